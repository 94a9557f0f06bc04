// drop-in DIRECTORY: writes and copies a protected file with Foundation's own calls.

import ResourceValuesDropIn

let directory = URL(fileURLWithPath: CommandLine.arguments[1], isDirectory: true)
let file = directory.appendingPathComponent("secret")
let copy = directory.appendingPathComponent("copy")
try Data("text".utf8).write(to: file, options: .completeFileProtection)
try FileManager.default.copyItem(at: file, to: copy)
let attributes = try FileManager.default.attributesOfItem(atPath: copy.path)
switch attributes[.protectionKey] as? FileProtectionType {
case .complete?: print("the copy is protected")
default: print("the copy is not protected")
}
