import SystemCalls
import SystemPackage

/// The homes that `/etc/passwd` tells. Read here and not by `getpwuid(3)`, which a statically linked
/// glibc cannot answer.
public struct PasswordDatabase: Sendable, Hashable {
    /// One account.
    public struct Account: Sendable, Hashable {
        /// The user number.
        public let user: UInt32
        /// The home, as an absolute path.
        public let home: FilePath
    }

    /// The accounts with an absolute home, in the file's order. `/` is nobody's home.
    public let accounts: [Account]

    /// Reads the contents of a file in the format of passwd(5). Lines that are none are left out.
    public init(contents: [UInt8]) {
        accounts = contents.split(separator: UInt8(ascii: "\n")).compactMap { Account(line: $0) }
    }

    /// The home of a user; nil when the user has none.
    public func home(of user: UInt32) -> FilePath? {
        accounts.first { $0.user == user }?.home
    }
}

extension PasswordDatabase.Account {
    fileprivate init?(line: ArraySlice<UInt8>) {
        let fields = line.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard fields.count >= 6, let user = UInt32(String(decoding: fields[2], as: UTF8.self))
        else { return nil }
        let home = FilePath(bytes: fields[5])
        guard home.isUsableHome else { return nil }
        self.init(user: user, home: home)
    }
}
