import CommandSupport

PurgeCommand.runAsProgram()
