/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import dev.paddock.PaddockException;
import dev.paddock.StoreException;
import dev.paddock.redis.internal.Causes;
import dev.paddock.redis.internal.Secrets;
import dev.paddock.redis.internal.ServerVersion;
import dev.paddock.spi.StoreOptions;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;
import redis.clients.jedis.exceptions.JedisDataException;

/** Says why a store could not be opened: which server, what happened, what to do. */
final class OpenFailures {
  private final int database;
  private final String server;
  private final Secrets secrets;
  private final StoreOptions options;

  OpenFailures(int database, String server, Secrets secrets, StoreOptions options) {
    this.database = database;
    this.server = server;
    this.secrets = secrets;
    this.options = options;
  }

  StoreException cluster() {
    return plain(
        " is a node of a cluster, which a RedisClient can't use: use JedisRedis.connectCluster, with"
            + " some of the nodes and the settings of the client");
  }

  StoreException noCluster() {
    return plain(" is a server of its own and no node of a cluster: name it alone, without a list");
  }

  StoreException noPrimary() {
    return new StoreException(
        "can't open "
            + server
            + ": the Sentinels know no primary of that name: check the name after '#' in the URI",
        null,
        false);
  }

  StoreException tooOld(ServerVersion version) {
    return plain(
        " is version "
            + version.text()
            + ", which is too old: Paddock needs Redis 6.2 or later, or Valkey 7.2 or later");
  }

  private StoreException plain(String what) {
    return new StoreException(server + what, null, false);
  }

  RuntimeException explain(Exception failed) {
    List<Throwable> chain = Causes.of(failed);
    for (Throwable each : chain) {
      if (each instanceof PaddockException ours && !(each instanceof StoreException)) {
        return ours;
      }
    }
    if (failed instanceof StoreException ours && ours.getCause() == null) {
      return ours;
    }
    return new StoreException(
        "can't open " + server + ": " + reason(chain), secrets.causeOrNull(failed), false);
  }

  private String reason(List<Throwable> chain) {
    JedisDataException refused = Causes.first(chain, JedisDataException.class);
    if (refused != null) {
      return refusal(String.valueOf(refused.getMessage()));
    }
    SSLException tls = Causes.first(chain, SSLException.class);
    if (tls != null) {
      return "TLS failed ("
          + secrets.summary(tls)
          + "): check that the port speaks TLS, that the JVM's trust store knows the issuer of the"
          + " server's certificate, and that the certificate names the host";
    }
    if (Causes.first(chain, UnknownHostException.class) != null) {
      return "the host name is not known: check the name and the name server";
    }
    if (Causes.first(chain, SocketTimeoutException.class) != null
        || Causes.first(chain, TimeoutException.class) != null) {
      return "no answer within the connectTimeout of "
          + options.connectTimeout().toMillis()
          + " ms: check that the server runs and that no firewall is in between";
    }
    if (Causes.first(chain, ConnectException.class) != null) {
      return "the connection was refused: check that the server runs, listens on this address and"
          + " port, and that no firewall is in between";
    }
    for (Throwable each : chain) {
      if (String.valueOf(each.getMessage()).contains("Unexpected end of stream")) {
        return "it closed the connection before it answered: check that it is Redis, and whether"
            + " its port speaks TLS (then the URI must begin with rediss://)";
      }
    }
    return secrets.summary(chain.get(chain.size() - 1));
  }

  private String refusal(String answer) {
    String said = " (it said: " + secrets.shown(answer) + ")";
    if (answer.startsWith("WRONGPASS") || answer.contains("invalid password")) {
      return "it refuses the user or the password" + said + ": check both in the URI";
    }
    if (answer.startsWith("NOAUTH")) {
      return "it wants a password" + said + ": put user and password into the URI";
    }
    if (answer.contains("DB index") || answer.contains("invalid DB")) {
      return "it has no database " + database + said + ": check the number at the end of the URI";
    }
    return "it refuses the connection" + said;
  }
}
