/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot.shop;

/** What is cached. */
record Post(long id, String title) {}
