/**
 * Paddock's events as meters and observations of Micrometer: {@link
 * dev.paddock.micrometer.PaddockMetrics} makes the meters, and a dashboard and alert rules for them
 * lie beside it as resources.
 */
@NullMarked
package dev.paddock.micrometer;

import org.jspecify.annotations.NullMarked;
