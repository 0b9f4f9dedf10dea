/** Tests of the meters, the dashboard, the alert rules and their page. */
@NullMarked
package dev.paddock.micrometer;

import org.jspecify.annotations.NullMarked;
