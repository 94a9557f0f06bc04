import CommandSupport

await BackupCommand.runAsyncProgram(uncaughtCode: 1)
