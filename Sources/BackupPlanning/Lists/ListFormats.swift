/// The formats there are.
public enum ListFormats {
    /// All formats.
    public static let all: [any ListFormat] = [
        ResticList(), BorgList(), TarList(), BsdtarList(), RsyncList(), RcloneList(),
        DuplicityList(), NulList(),
    ]

    /// The format of this name; nil when there is none.
    public static func named(_ name: String) -> (any ListFormat)? {
        all.first { $0.name == name }
    }
}
