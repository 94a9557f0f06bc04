/// What is wrong with the configuration file.
package struct SettingsError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line, from 1; nil where it is not with one.
    package let line: Int?
    /// What is wrong, naming the key, and what is valid.
    package let description: String

    package init(line: Int? = nil, _ description: String) {
        self.line = line
        self.description = description
    }
}
