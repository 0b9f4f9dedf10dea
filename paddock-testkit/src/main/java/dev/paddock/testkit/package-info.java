/**
 * For tests: of code that uses Paddock, of storage backends, and of Paddock itself.
 *
 * <ul>
 *   <li>{@link dev.paddock.testkit.InMemoryPaddock}: a Paddock without a server, on real or virtual
 *       time; start here;
 *   <li>{@link dev.paddock.testkit.VirtualEnvironment}: virtual time on one thread, seeded; {@link
 *       dev.paddock.testkit.RealTimeEnvironment} and {@link dev.paddock.testkit.SkewedEnvironment}
 *       (a wrong clock) beside it;
 *   <li>{@link dev.paddock.testkit.InMemoryRedis}: a model of a server that runs the real scripts;
 *       {@link dev.paddock.testkit.RequestInterceptor} decides the {@link
 *       dev.paddock.testkit.RequestFate} of each {@link dev.paddock.testkit.RedisRequest};
 *   <li>{@link dev.paddock.testkit.RedisServerProcess}: a real server that can be paused, killed
 *       and restarted; {@link dev.paddock.testkit.ServerClocks} moves its clock, {@link
 *       dev.paddock.testkit.PrimaryWithReplicas} and {@link dev.paddock.testkit.SentinelGroup} are
 *       several of them; {@link dev.paddock.testkit.CommandCounter} counts what it is sent, {@link
 *       dev.paddock.testkit.FaultProxy} spoils what passes;
 *   <li>{@link dev.paddock.testkit.ServerRelease}: servers of other releases. Needs JUnit;
 *   <li>{@link dev.paddock.testkit.RedisClusterProcess}: a real cluster, whose slots move in stages
 *       and whose masters can be killed;
 *   <li>{@link dev.paddock.testkit.SelfSignedCertificate}: what a server takes that speaks TLS;
 *   <li>{@link dev.paddock.testkit.RedisConsole}, {@link dev.paddock.testkit.RedisCommands}, {@link
 *       dev.paddock.testkit.KeyState}: raw commands and keys, of a model or a real server;
 *   <li>{@link dev.paddock.testkit.FillStoreTck}: the contract of a store, with its {@link
 *       dev.paddock.testkit.FillStoreHarness}, ready for real servers as {@link
 *       dev.paddock.testkit.RedisServerHarness}. Needs JUnit and AssertJ.
 * </ul>
 */
@NullMarked
package dev.paddock.testkit;

import org.jspecify.annotations.NullMarked;
