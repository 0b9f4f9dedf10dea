/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import picocli.CommandLine.IVersionProvider;

/** What {@code --version} prints: of the program, and of the Java that runs it. */
public final class ProgramVersion implements IVersionProvider {
  private static final String RESOURCE = "version.txt";

  /** Makes the provider. */
  public ProgramVersion() {}

  @Override
  public String[] getVersion() throws IOException {
    try (InputStream stream = ProgramVersion.class.getResourceAsStream(RESOURCE)) {
      if (stream == null) {
        throw new FileNotFoundException(RESOURCE);
      }
      String version = new String(stream.readAllBytes(), UTF_8).strip();
      return new String[] {
        "Paddock " + version + " (Java " + System.getProperty("java.version") + ")"
      };
    }
  }
}
