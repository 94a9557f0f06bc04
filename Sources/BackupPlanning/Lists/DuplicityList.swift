import ResourceValues
import SystemPackage

/// duplicity: selection rules that exclude what the plan excludes, and include the SOURCEs and
/// nothing else.
///
/// Each rule ends with a NUL; the first one that matches decides.
struct DuplicityList: ListFormat {
    let name = "duplicity"
    let storesPlaintext = false
    let listsStoredItems = false

    func list(of plan: BackupPlan) throws -> BackupList {
        var rules: [UInt8] = []
        var losses: [ListLoss] = []
        for item in plan.exclusions where item.reason != .socket && item.reason != .tooLong {
            if let double = try NameDoubles.double(of: item) ?? newlineDouble(of: item) {
                losses.append(double.loss(by: "duplicity"))
                continue
            }
            if let kept = plan.keptFile(of: item) { rules += rule("+", kept) }
            rules += rule("-", item.path, contentsOnly: item.isDirectory)
        }
        for source in plan.sources { rules += rule("+", source) }
        return BackupList(.bytes(rules + Array("- **\0".utf8)), lostExclusions: losses)
    }

    func command(for list: ListUse) -> ShellCommand {
        var command = ShellCommand("duplicity --null-separator --include-filelist")
        command.add(path: list.list)
        command.add("/ \"$DESTINATION\"")
        command.advice = [
            "set DESTINATION to a URL of duplicity's; do not add --no-encryption: items with a "
                + "protection class are in the list",
            "duplicity stores no extended attributes: a restored file has no marks",
        ]
        return command
    }

    /// Returns the item with a newline appended to its name, which duplicity's regular expressions
    /// do not tell apart from the item; nil when there is none on disk.
    private func newlineDouble(of item: ExcludedItem) throws -> NameDoubles.Double? {
        guard !item.isDirectory else { return nil }
        let other = FilePath(bytes: item.path.bytes + [UInt8(ascii: "\n")])
        do throws(Errno) {
            _ = try other.withoutFollowing.status()
            return NameDoubles.Double(path: item.path, other: other)
        } catch .noSuchFileOrDirectory {
            return nil
        } catch .fileNameTooLong {
            return nil
        }
    }

    private func rule(_ sign: String, _ path: FilePath, contentsOnly: Bool = false) -> [UInt8] {
        let characters = path.bytes.characters
        var rule = "\(sign) "
        for (index, character) in characters.enumerated() {
            guard case .scalar(let scalar) = character else {
                rule += anyByte
                continue
            }
            let isLast = index == characters.count - 1 && !contentsOnly
            if scalar == "\r" {
                rule += carriageReturn
            } else if "*?[".unicodeScalars.contains(scalar) || isLast && isWhiteSpace(scalar) {
                rule += "[\(scalar)]"
            } else {
                rule.unicodeScalars.append(scalar)
            }
        }
        if contentsOnly { rule += path.bytes.last == UInt8(ascii: "/") ? "**" : "/**" }
        return Array(rule.utf8) + [0]
    }

    /// Whether Python's `strip` removes a character.
    private func isWhiteSpace(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || (0x1C...0x1F).contains(scalar.value)
    }
}

/// Matches a carriage return, by negating every other character: Python reads a carriage return in
/// a list as a newline.
private let carriageReturn = "[!\u{1}-\u{C}\u{E}-\u{10FFFF}]"
/// Matches one byte that is not UTF-8, by negating every character.
private let anyByte = "[!\u{1}-\u{D7FF}\u{E000}-\u{10FFFF}]"
