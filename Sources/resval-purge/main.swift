import CommandSupport

PurgeCommand.runAsProgram(synonyms: [
    "ls": "plan", "list": "plan", "clean": "run", "purge": "run", "delete": "run", "df": "status",
])
