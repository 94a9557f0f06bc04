import CommandSupport

BackupCommand.runAsyncProgram(uncaughtCode: 1)
