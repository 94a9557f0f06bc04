import CommandSupport

/// Words as a shell takes them.
enum ShellWord {
    private static let plain = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:@%,".utf8)

    /// A word that bash, zsh and ksh read back to the same bytes, and that cannot drive a terminal.
    static func quoted(_ word: [UInt8]) -> String {
        if !word.isEmpty, word.allSatisfy(plain.contains) {
            return String(decoding: word, as: UTF8.self)
        }
        let escaped = NameEscaping.text(word)
        if escaped.hasPrefix("$'") || word.isEmpty { return escaped }
        return "'" + escaped.replacing("'", with: #"'\''"#) + "'"
    }
}
