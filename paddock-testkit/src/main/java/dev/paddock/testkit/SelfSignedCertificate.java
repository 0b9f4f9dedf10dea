/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.concurrent.TimeUnit;

/**
 * A certificate for 127.0.0.1 (and no other name) that signs itself, with its key: for a server
 * that speaks TLS in a test. Made by the JDK's keytool, and valid for two days.
 *
 * @since 0.1.0
 */
public final class SelfSignedCertificate {
  /** The password of {@link #store()}. */
  public static final String STORE_PASSWORD = "changeit";

  private static final String ALIAS = "redis";
  private static final long KEYTOOL_SECONDS_MAX = 60;
  private static final int PEM_COLUMNS = 64;

  private final Path folder;

  private SelfSignedCertificate(Path folder) {
    this.folder = folder;
  }

  /**
   * Makes a certificate.
   *
   * @param folder takes its files
   * @return the certificate
   * @throws IllegalStateException if keytool fails, with what it said
   * @throws UncheckedIOException if a file can't be written
   */
  public static SelfSignedCertificate in(Path folder) {
    SelfSignedCertificate made = new SelfSignedCertificate(folder);
    try {
      made.generate();
      KeyStore keys = KeyStore.getInstance("PKCS12");
      try (InputStream in = Files.newInputStream(made.store())) {
        keys.load(in, STORE_PASSWORD.toCharArray());
      }
      byte[] key = keys.getKey(ALIAS, STORE_PASSWORD.toCharArray()).getEncoded();
      pem(made.key(), "PRIVATE KEY", key);
      pem(made.certificate(), "CERTIFICATE", keys.getCertificate(ALIAS).getEncoded());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("what keytool has made can't be read", e);
    }
    return made;
  }

  private void generate() throws IOException {
    Path said = folder.resolve("keytool.log");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                ALIAS,
                "-keyalg",
                "RSA",
                "-keysize",
                "2048",
                "-dname",
                "CN=paddock-test",
                "-ext",
                "SAN=ip:127.0.0.1",
                "-validity",
                "2",
                "-storetype",
                "PKCS12",
                "-keystore",
                store().toString(),
                "-storepass",
                STORE_PASSWORD)
            .redirectErrorStream(true)
            .redirectOutput(said.toFile())
            .start();
    try {
      if (!keytool.waitFor(KEYTOOL_SECONDS_MAX, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
        throw new IllegalStateException("keytool failed: " + Files.readString(said, UTF_8));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for keytool", e);
    } finally {
      keytool.destroyForcibly();
    }
  }

  private static void pem(Path file, String type, byte[] der) throws IOException {
    String body = Base64.getMimeEncoder(PEM_COLUMNS, new byte[] {'\n'}).encodeToString(der);
    Files.writeString(
        file, "-----BEGIN " + type + "-----\n" + body + "\n-----END " + type + "-----\n", UTF_8);
  }

  /**
   * Returns the certificate alone: what a client may trust, and a server shows.
   *
   * @return a PEM file
   */
  public Path certificate() {
    return folder.resolve("cert.pem");
  }

  /**
   * Returns the private key, not encrypted.
   *
   * @return a PEM file
   */
  public Path key() {
    return folder.resolve("key.pem");
  }

  /**
   * Returns both in one: a JVM that is given it as its trust store trusts the certificate.
   *
   * @return a PKCS12 file, under {@link #STORE_PASSWORD}
   */
  public Path store() {
    return folder.resolve("keys.p12");
  }
}
