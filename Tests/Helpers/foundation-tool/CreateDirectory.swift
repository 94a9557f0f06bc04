import ResourceValuesDropIn

/// `create-directory PATH`: creates a directory with the class `complete`, and those above it.
func runCreateDirectory(_ arguments: [String]) throws {
    try FileManager.default.createDirectory(
        atPath: arguments[0], withIntermediateDirectories: true,
        attributes: [.protectionKey: FileProtectionType.complete])
}
