/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli;

import dev.paddock.cli.demo.DemoCommand;
import dev.paddock.cli.demo.WorkerCommand;
import dev.paddock.cli.soak.SoakCommand;
import dev.paddock.cli.soak.SoakWorkerCommand;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command line: {@code paddock demo} and what will come beside it. */
@Command(
    name = "paddock",
    description = "Paddock: a stampede-proof cache and leases for Java on Redis.",
    mixinStandardHelpOptions = true,
    versionProvider = ProgramVersion.class,
    subcommands = {
      DemoCommand.class,
      SoakCommand.class,
      WorkerCommand.class,
      SoakWorkerCommand.class,
      CommandLine.HelpCommand.class
    })
public final class PaddockCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  private static final String NO_UNSAFE = "io.netty.noUnsafe";

  /** Makes the command. */
  public PaddockCommand() {}

  /**
   * Runs the command and ends the JVM.
   *
   * @param args the arguments
   */
  public static void main(String[] args) {
    if (System.getProperty(NO_UNSAFE) == null) {
      // Before Netty is loaded: from Java 24 on the JVM prints warnings about what it does else.
      System.setProperty(NO_UNSAFE, "true");
    }
    System.exit(commandLine().execute(args));
  }

  /**
   * Makes the parser of the command line.
   *
   * @return a parser that has parsed nothing yet
   */
  static CommandLine commandLine() {
    return new CommandLine(new PaddockCommand())
        .setUsageHelpAutoWidth(false)
        .setUsageHelpWidth(100)
        .setParameterExceptionHandler(PaddockCommand::refuse);
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "say what to do: demo, soak or help");
  }

  private static int refuse(ParameterException e, String[] args) {
    CommandLine command = e.getCommandLine();
    PrintWriter err = command.getErr();
    err.println(e.getMessage());
    err.println("See ./" + command.getCommandSpec().qualifiedName() + " --help");
    return command.getCommandSpec().exitCodeOnInvalidInput();
  }
}
