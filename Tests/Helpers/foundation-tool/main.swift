// foundation-tool COMMAND ARGUMENT...
//
// Programs written for Apple's systems, which tests and the benchmark run. The file named after a
// command says what it does.

import ResourceValuesDropIn

let arguments = Array(CommandLine.arguments.dropFirst(2))
switch CommandLine.arguments.dropFirst().first {
case "capacity": try runCapacity(arguments)
case "create-directory": try runCreateDirectory(arguments)
case "directories": try printDirectories(creating: arguments == ["create"])
case "enumerate": try runEnumerate(arguments)
case "local-document": try runLocalDocument(arguments)
case "ubiquitous": exit(try runUbiquitous(arguments))
case "url-keys": try runURLKeys(arguments)
case "volume-keys": try runVolumeKeys(arguments)
case "write-forever": try runWriteForever(arguments)
default:
    print(
        "usage: foundation-tool capacity|create-directory|directories|enumerate|local-document|"
            + "ubiquitous|url-keys|volume-keys|write-forever ARGUMENT...")
    exit(64)
}
