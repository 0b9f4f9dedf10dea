/**
 * Paddock's events as meters and observations of Micrometer: {@link
 * dev.paddock.micrometer.PaddockMetrics} makes the meters, {@link
 * dev.paddock.micrometer.PaddockObservations} the observations, and a dashboard and alert rules lie
 * beside them as resources.
 */
@NullMarked
package dev.paddock.micrometer;

import org.jspecify.annotations.NullMarked;
