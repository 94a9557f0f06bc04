import ResourceValues
import SystemPackage

/// Kopia: ignore rules of the SOURCE's policy, in the way of `.gitignore`.
///
/// What is known of the rules is read from Kopia's source (`internal/wcmatch`). They hold no `!`, whose
/// meaning changed between versions.
struct KopiaList: ListFormat {
    let name = "kopia"
    let storesPlaintext = false
    let listsStoredItems = false
    let takesOneSource = true

    func obstacle(toStoring path: [UInt8], kind: FileKind) -> String? {
        switch kind {
        case .regularFile, .directory, .symbolicLink: nil
        default: "kopia stores files, directories and symbolic links only"
        }
    }

    func list(of plan: BackupPlan) throws -> BackupList {
        var rules: [UInt8] = []
        var losses: [ListLoss] = []
        for item in plan.exclusions where item.reason != .socket && item.reason != .tooLong {
            if let double = try NameDoubles.double(of: item) {
                losses.append(double.loss(by: "kopia"))
                continue
            }
            guard let source = plan.sources.first(where: { item.path.starts(with: $0) }) else {
                continue
            }
            var relative = item.path
            _ = relative.removePrefix(source)
            let name = relative.isEmpty ? [] : [UInt8(ascii: "/")] + pattern(relative)
            for ending in endings(of: item, keeping: plan.keptFile(of: item)) {
                rules += name + ending + [UInt8(ascii: "\n")]
            }
        }
        return BackupList(.bytes(rules), lostExclusions: losses)
    }

    func command(for list: ListUse) -> ShellCommand {
        let source = list.sources.first ?? "."
        var command = ShellCommand("kopia policy set --clear-ignore")
        command.add(path: source)
        command.add("&& xargs --delimiter='\\n' --replace=RULE")
        command.add("--arg-file=", path: list.list)
        command.add("kopia policy set --add-ignore=RULE")
        command.add(path: source)
        command.add("&& kopia snapshot create")
        command.add(path: source)
        command.advice = [
            "the list takes the place of all ignore rules of this SOURCE's own policy",
            "kopia stores no extended attributes: a restored file has no marks",
        ]
        return command
    }

    /// What stands behind a path to name it, or everything in it but what is kept.
    private func endings(of item: LeftOutItem, keeping kept: FilePath?) -> [[UInt8]] {
        guard item.isDirectory else { return [[]] }
        guard let kept = kept?.lastComponent.map({ FilePath(root: nil, [$0]).bytes }) else {
            return [Array("/*".utf8)]
        }
        // Every name that is not the kept one: it differs at some byte, ends early, or goes on.
        var endings = [Array("/".utf8) + kept + Array("?*".utf8)]
        for (index, byte) in kept.enumerated() {
            let start = Array("/".utf8) + kept.prefix(index)
            endings.append(start + Array("[!".utf8) + [byte] + Array("]*".utf8))
            if index > 0 { endings.append(start) }
        }
        return endings
    }

    private func pattern(_ path: FilePath) -> [UInt8] {
        var pattern = path.bytes.characters.flatMap { character -> [UInt8] in
            switch character {
            case .scalar("\n"): return anyNewline
            case .scalar(let scalar) where #"\*?["#.unicodeScalars.contains(scalar):
                return [UInt8(ascii: "\\")] + character.bytes
            default: return Array(character.bytes)
            }
        }
        guard case .scalar(let last)? = path.bytes.characters.last, last.properties.isWhitespace,
            last != "\n"
        else { return pattern }
        // It would be trimmed; in a class it is not.
        let character = Array(String(last).utf8)
        pattern.removeLast(character.count)
        return pattern + [UInt8(ascii: "[")] + character + [UInt8(ascii: "]")]
    }
}

/// Every character but a newline, negated: a rule is a line.
private let anyNewline: [UInt8] =
    Array("[!".utf8) + [0x01, UInt8(ascii: "-"), 0x09, 0x0B, UInt8(ascii: "-")]
    + Array("\u{10FFFF}]".utf8)
