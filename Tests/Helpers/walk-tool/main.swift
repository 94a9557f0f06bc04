// walk-tool [--threads N] [--one-filesystem] [--no-follow] [--stop-after N] [--summary] ROOT…
//
// Walks trees in a process of its own, for tests that need another user, fewer descriptors or no
// xattrat calls. Prints every path it visits, then what could not be read as `! CODE PATH`, each
// NUL-ended. With --summary prints counts instead, one on each line, and what the walk left behind.

import FileTree
import Glibc
import SystemPackage

let options = Options(CommandLine.arguments.dropFirst())
let before = Surroundings()
let report = Report()
do {
    try report.walk(options)
} catch {
    print("! \(error)")
    exit(2)
}
let after = Surroundings()
if options.isSummary {
    let total = report.total
    print("entries \(total.entries)")
    print("directories \(total.directories)")
    print("errors \(total.errors)")
    print("finished \(total.finished)")
    print("deepest \(total.deepest)")
    print("leaked descriptors \(after.descriptorCount - before.descriptorCount)")
    print("same working directory \(after.workingDirectory == before.workingDirectory)")
    print("peak KiB \(after.peakKibibytes)")
} else {
    try report.printAll()
}
