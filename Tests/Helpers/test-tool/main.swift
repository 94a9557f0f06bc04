// test-tool evict|mark|purge|walk ARGUMENT...
//
// What tests need as a process of its own: to be another user, to be killed, to have its own limits.
// The file named after a command says what it does. Links no Foundation.

import Glibc

let arguments = Array(CommandLine.arguments.dropFirst(2))
switch CommandLine.arguments.dropFirst().first {
case "evict": runEvict(arguments)
case "mark": runMark(arguments)
case "purge": runPurge(arguments)
case "walk": runWalk(arguments)
default:
    print("usage: test-tool evict|mark|purge|walk ARGUMENT...")
    exit(64)
}
