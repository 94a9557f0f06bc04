// client HOME
//
// Uses every library that does not need Foundation for what it is for, on the files of HOME.

import SystemPackage

let home = FilePath(CommandLine.arguments[1])
do {
    try useMarks(of: home.appending("Work"))
    answerQuestions(about: home.appending("Work/build/app.o"))
    try explain(home.appending("Work/build/app.o"))
    try printSizes(below: home.appending("Work"))
    try listBackup(of: home)
    try showUsage(of: home)
    try await watch(home)
    try trim(home.appending(".cache/own"))
    try purge(home.appending(".cache"))
} catch {
    print("failed: \(error)")
}
