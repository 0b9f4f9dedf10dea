/**
 * The examples of the documentation, compiled, and the checks that keep the pages true: {@link
 * dev.paddock.docs.DocExamplesTest}.
 */
@NullMarked
package dev.paddock.docs;

import org.jspecify.annotations.NullMarked;
