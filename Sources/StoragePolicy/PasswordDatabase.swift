import SystemCalls
import SystemPackage

/// The accounts in `/etc/passwd`. Parsed here, since `getpwuid(3)` does not work in a statically
/// linked glibc.
public struct PasswordDatabase: Sendable, Hashable {
    /// One account.
    public struct Account: Sendable, Hashable {
        /// The uid.
        public let user: UInt32
        /// The home, as an absolute path.
        public let home: FilePath
    }

    /// The accounts with an absolute home other than `/`, in the file's order.
    public let accounts: [Account]

    /// Parses the contents of a file in the format of passwd(5). Invalid lines are skipped.
    public init(contents: [UInt8]) {
        accounts = contents.split(separator: UInt8(ascii: "\n")).compactMap { Account(line: $0) }
    }

    /// Returns the home of a user; nil if the user has none.
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
