/// An error in the configuration file.
package struct SettingsError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line, from 1; nil where the error does not belong to a line.
    package let line: Int?
    /// A description of what is wrong, naming the key, and of what is valid.
    package let description: String

    package init(line: Int? = nil, _ description: String) {
        self.line = line
        self.description = description
    }
}
