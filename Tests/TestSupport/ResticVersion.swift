/// Returns the minor version of the restic on `PATH`: 14 for 0.14.1.
package func resticMinorVersion() throws -> Int {
    let words = try tool("restic", "version").split { " .".contains($0) }
    struct UnknownVersion: Error { let text: String }
    guard words.count > 2, let version = Int(words[2]) else {
        throw UnknownVersion(text: "\(words)")
    }
    return version
}
