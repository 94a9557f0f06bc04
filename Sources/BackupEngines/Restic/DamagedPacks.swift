import SystemCalls
import SystemPackage

/// The packs of a repository that a check complained of.
struct DamagedPacks {
    /// The first digits of their names, each once, sorted.
    let names: [String]

    /// Finds names in what `restic check` wrote, where they follow the word pack.
    init(_ lines: [String]) {
        var names: Set<String> = []
        for line in lines {
            let words = line.split { !$0.isLetter && !$0.isNumber }
            for (index, word) in words.enumerated().dropFirst()
            where (8...64).contains(word.count) && word.isHexadecimal {
                let isPack =
                    words[index - 1].lowercased() == "pack"
                    || line.hasPrefix("Pack ID does not match") && words[index - 1] == "want"
                if isPack { names.insert(String(word)) }
            }
        }
        self.names = names.sorted()
    }

    /// How to have their data stored again: packs are found by what they hold, so a damaged one has
    /// to go before a backup stores its contents anew.
    func repair(_ restic: Restic) -> [RepairStep] {
        guard !names.isEmpty else { return [] }
        var steps = names.map { move($0, restic) }
        steps.append(
            RepairStep(
                purpose: "have restic forget what the damaged packs held"
                    + (restic.repository.directory == nil ? " (set RESTIC_REPOSITORY)" : ""),
                command: [restic.program.path.bytes] + location(of: restic)
                    + ResticCommand("rebuild-index").arguments(opening: restic.passwordOption)))
        return steps
    }

    /// A location that is no directory may hold a password: restic then finds it in the environment.
    private func location(of restic: Restic) -> [[UInt8]] {
        restic.repository.directory.map { [option("--repo", $0.bytes)] } ?? []
    }

    private func move(_ name: String, _ restic: Restic) -> RepairStep {
        guard let directory = restic.repository.directory,
            let file = file(name, in: directory)
        else {
            return RepairStep(
                purpose: "move the file data/\(name.prefix(2))/\(name)… of the repository aside",
                command: [])
        }
        let aside = directory.bytes + Array(".damaged-\(name.prefix(16))".utf8)
        return RepairStep(
            purpose: "move a damaged pack aside", command: words("mv", "--") + [file.bytes, aside])
    }

    private func file(_ name: String, in directory: FilePath) -> FilePath? {
        let packs = directory.appending("data").appending(String(name.prefix(2)))
        var found: [UInt8]?
        do throws(Errno) {
            try forEachName(in: packs) { entry in
                if entry.starts(with: name.utf8) { found = Array(entry) }
                return found == nil
            }
        } catch {
            // Not a directory's repository, or one that cannot be read: told in words.
            return nil
        }
        return found.map { packs.pushing(FilePath(bytes: $0)) }
    }
}
