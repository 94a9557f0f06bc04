import ResourceValues
import SystemPackage

/// rclone: filter rules that exclude what the plan excludes, and include the SOURCEs and nothing
/// else.
///
/// rclone sees each control character in a name as its picture (U+2400 and following), and a
/// character that already is such a picture with U+201B before it. The exception is the picture of
/// NUL, which rclone takes for a NUL that another program replaced.
struct RcloneList: ListFormat {
    let name = "rclone"
    let storesPlaintext = true
    let listsStoredItems = false

    func obstacle(toStoring path: [UInt8], kind: FileKind) -> String? {
        switch kind {
        case .regularFile, .directory, .symbolicLink: break
        default: return "rclone stores files, directories and symbolic links only"
        }
        return path.firstRange(of: quote) == nil
            ? nil : "rclone cannot open a name that contains U+201B"
    }

    func list(of plan: BackupPlan) throws -> BackupList {
        var rules: [UInt8] = []
        var losses: [ListLoss] = []
        for item in plan.exclusions where item.reason != .socket && item.reason != .tooLong {
            if let double = try NameDoubles.double(of: item) {
                losses.append(double.loss(by: "rclone"))
                continue
            }
            guard item.path.bytes.firstRange(of: quote) == nil else {
                losses.append(
                    ListLoss(
                        path: item.path,
                        reason: "rclone reads names that contain U+201B in more than "
                            + "one way"))
                continue
            }
            let name = pattern(item.path)
            guard item.isDirectory else {
                rules += Array("- ".utf8) + protectedEnd(name) + newline
                continue
            }
            if let kept = plan.keptFile(of: item) {
                rules += Array("+ ".utf8) + pattern(kept) + newline
            }
            // Not "/**" alone, which would match the directory itself too.
            let below = name.last == slash ? name : name + [slash]
            rules += Array("- ".utf8) + below + Array("*".utf8) + newline
            rules += Array("- ".utf8) + below + Array("*/**".utf8) + newline
        }
        for source in plan.sources { rules += try inclusion(of: source) }
        return BackupList(.bytes(rules + Array("- **\n".utf8)), lostExclusions: losses)
    }

    func command(for list: ListUse) -> ShellCommand {
        var command = ShellCommand("rclone copy --metadata --links --create-empty-src-dirs")
        // Otherwise names that only look the same to people would become one file.
        command.add("--no-unicode-normalization")
        command.add("--filter-from=", path: list.list)
        command.add("/ \"$DESTINATION\"")
        command.advice = [
            "set DESTINATION to REMOTE:PATH; hard links become separate files",
            "rclone writes the names of attributes in lowercase: a restored file has no marks",
        ]
        return command
    }

    private func inclusion(of source: FilePath) throws -> [UInt8] {
        let name = pattern(source)
        guard try source.status().kind == .directory else {
            return Array("+ ".utf8) + protectedEnd(name) + newline
        }
        let below = name.last == slash ? name : name + [slash]
        return Array("+ ".utf8) + below + Array("**".utf8) + newline
    }

    private func pattern(_ path: FilePath) -> [UInt8] {
        path.bytes.characters.flatMap { character -> [UInt8] in
            guard case .scalar(let scalar) = character else { return Array(character.bytes) }
            switch scalar.value {
            case 0..<0x20: return pictures(0x2400 + scalar.value)
            case 0x7F: return pictures(0x2421)
            case 0x2401...0x241F, 0x2421: return quote + Array(character.bytes)
            default:
                let isSpecial = #"\*?[]{}"#.unicodeScalars.contains(scalar)
                return (isSpecial ? [UInt8(ascii: "\\")] : []) + Array(character.bytes)
            }
        }
    }

    /// Puts trailing white space, which rclone would trim, into a character class.
    private func protectedEnd(_ pattern: [UInt8]) -> [UInt8] {
        guard case .scalar(let last)? = pattern.characters.last, last.properties.isWhitespace
        else { return pattern }
        let character = Array(String(last).utf8)
        return pattern.dropLast(character.count) + [UInt8(ascii: "[")] + character
            + [UInt8(ascii: "]")]
    }

    private func pictures(_ value: UInt32) -> [UInt8] {
        Unicode.Scalar(value).map { Array(String($0).utf8) } ?? []
    }
}

/// U+201B, which rclone puts before characters that would otherwise mean something else.
private let quote = Array("\u{201B}".utf8)
private let slash = UInt8(ascii: "/")
private let newline = [UInt8(ascii: "\n")]
