import SystemCalls
import SystemPackage

/// The names of users and groups by uid and gid, from `/etc/passwd` and `/etc/group`.
struct OwnerNames {
    private let users: [UInt32: String]
    private let groups: [UInt32: String]

    /// Reads both files. Where they cannot be read, an archive contains only uids and gids.
    init() {
        users = Self.names(in: "/etc/passwd")
        groups = Self.names(in: "/etc/group")
    }

    /// Returns a user's name; empty when it is unknown.
    func user(_ number: UInt32) -> String { users[number] ?? "" }

    /// Returns a group's name; empty when it is unknown.
    func group(_ number: UInt32) -> String { groups[number] ?? "" }

    /// Returns the names in a file, by id. Both files have the name in the first field and the id
    /// in the third.
    private static func names(in path: FilePath) -> [UInt32: String] {
        // Without names, the ids suffice.
        guard let text = try? contentsOfFile(path) else { return [:] }
        var names: [UInt32: String] = [:]
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            guard fields.count > 3, let number = UInt32(String(decoding: fields[2], as: UTF8.self)),
                let name = String(validating: fields[0], as: UTF8.self), names[number] == nil
            else { continue }
            names[number] = name
        }
        return names
    }
}
