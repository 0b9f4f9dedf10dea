/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import dev.paddock.PaddockException;
import dev.paddock.StoreException;
import dev.paddock.redis.internal.Causes;
import dev.paddock.redis.internal.Secrets;
import dev.paddock.redis.internal.ServerVersion;
import dev.paddock.spi.StoreOptions;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisURI;
import io.netty.channel.ConnectTimeoutException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;
import java.util.List;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;

/** Says why a store could not be opened: which server, what happened, what to do. */
final class OpenFailures {
  private final boolean sentinels;
  private final int database;
  private final StoreOptions options;
  private final String server;
  private final Secrets secrets;

  OpenFailures(RedisURI uri, Secrets secrets, StoreOptions options) {
    this(
        uri.getDatabase(),
        "Redis at " + RedisUris.address(uri),
        RedisUris.hasSentinels(uri),
        secrets,
        options);
  }

  OpenFailures(int database, String server, Secrets secrets, StoreOptions options) {
    this(database, server, false, secrets, options);
  }

  private OpenFailures(
      int database, String server, boolean sentinels, Secrets secrets, StoreOptions options) {
    this.sentinels = sentinels;
    this.database = database;
    this.options = options;
    this.server = server;
    this.secrets = secrets;
  }

  StoreException cluster() {
    return new StoreException(
        server
            + " is a node of a cluster, which a RedisClient can't use: make a RedisClusterClient"
            + " and use LettuceRedis.using(RedisClusterClient), or LettuceRedis.connect",
        null,
        false);
  }

  StoreException clusterReadElsewhere() {
    return new StoreException(
        server
            + " is a node of a cluster, whose values are read from its masters: leave out readFrom",
        null,
        false);
  }

  StoreException tooOld(ServerVersion version) {
    return new StoreException(
        server
            + " is version "
            + version.text()
            + ", which is too old: Paddock needs Redis 6.2 or later, or Valkey 7.2 or later",
        null,
        false);
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
    for (Throwable each : chain) {
      if (String.valueOf(each.getMessage()).contains("cluster support disabled")) {
        return "it is a server of its own and no node of a cluster: name it alone, without a list";
      }
    }
    if (!sentinels) {
      return serverReason(chain);
    }
    if (chain.stream().anyMatch(each -> says(each, "Cannot provide redisAddress"))) {
      return "the Sentinels know no primary of that name: check the name after '#' in the URI";
    }
    return chain.stream().anyMatch(each -> says(each, "Redis Sentinel"))
        ? "no Sentinel could be asked; about the last of them: " + serverReason(chain)
        : serverReason(chain);
  }

  private static boolean says(Throwable thrown, String words) {
    return thrown.getMessage() != null && thrown.getMessage().contains(words);
  }

  private String serverReason(List<Throwable> chain) {
    RedisCommandExecutionException refused =
        Causes.first(chain, RedisCommandExecutionException.class);
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
    if (Causes.first(chain, UnknownHostException.class) != null
        || Causes.first(chain, UnresolvedAddressException.class) != null) {
      return "the host name is not known: check the name and the name server";
    }
    if (Causes.first(chain, ConnectTimeoutException.class) != null
        || Causes.first(chain, TimeoutException.class) != null
        || Causes.first(chain, RedisCommandTimeoutException.class) != null) {
      return "no answer within the connectTimeout of "
          + options.connectTimeout().toMillis()
          + " ms: check that the server runs and that no firewall is in between";
    }
    if (Causes.first(chain, ConnectException.class) != null) {
      return "the connection was refused: check that the server runs, listens on this address and"
          + " port, and that no firewall is in between";
    }
    Throwable root = chain.get(chain.size() - 1);
    String summary = secrets.summary(root);
    return summary.contains("closed prematurely")
        ? "it closed the connection before it answered: check that it is Redis, and whether its"
            + " port speaks TLS (then the URI must begin with rediss://)"
        : summary;
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
    if (answer.startsWith("NOPERM")) {
      return "the user lacks a right that connecting takes" + said + ": grant HELLO and SELECT";
    }
    return "it refuses the connection" + said;
  }
}
