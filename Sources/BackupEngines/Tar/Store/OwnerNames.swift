import SystemCalls
import SystemPackage

/// The names of users and groups by their numbers, as `/etc/passwd` and `/etc/group` tell them.
struct OwnerNames {
    private let users: [UInt32: String]
    private let groups: [UInt32: String]

    /// Reads both files. An archive of numbers alone is as good where they cannot be read.
    init() {
        users = Self.names(in: "/etc/passwd")
        groups = Self.names(in: "/etc/group")
    }

    /// A user's name; empty where none is known.
    func user(_ number: UInt32) -> String { users[number] ?? "" }

    /// A group's name; empty where none is known.
    func group(_ number: UInt32) -> String { groups[number] ?? "" }

    /// Both files have the name in the first field and the number in the third.
    private static func names(in path: FilePath) -> [UInt32: String] {
        // Numbers do where there are no names.
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
