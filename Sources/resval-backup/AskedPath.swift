import Backups
import CommandSupport
import EffectiveValues
import SystemCalls
import SystemPackage

/// A path as somebody typed it.
struct AskedPath {
    /// The working directory's path and the words as typed.
    let path: FilePath
    /// The first symbolic link above the item; nil if there is none now.
    let link: FilePath?
    /// The path with that link and others resolved; nil without a link, and where another user than the
    /// caller or root made it.
    let resolved: FilePath?
    /// How to go on where no snapshot has it, with a space in front.
    let advice: String

    init(_ word: PathArgument) throws {
        let typed = word.path
        let directory = typed.isAbsolute ? FilePath("/") : try realPath(of: ".")
        path = directory.pushing(typed).lexicallyNormalized()
        var place = FilePath("/")
        var found: (path: FilePath, isTrusted: Bool)?
        for component in path.removingLastComponent().components {
            place.append(component)
            guard let status = try? place.withoutFollowing.status() else { break }
            if status.kind == .symbolicLink {
                found = (place, status.owner == 0 || status.owner == effectiveUser())
                break
            }
        }
        link = found?.path
        if let found, found.isTrusted, let last = path.lastComponent,
            let parent = try? realPath(of: path.removingLastComponent())
        {
            resolved = parent.appending(last)
        } else {
            resolved = nil
        }
        if typed.bytes.contains(where: { "*?[".utf8.contains($0) }) {
            advice = " (the shell found nothing that matches the pattern)"
        } else if SnapshotChoice(String(decoding: typed.bytes, as: UTF8.self)) != nil {
            advice = " (a snapshot is named with --snapshot)"
        } else {
            advice = " (list the snapshots: resval-backup snapshots)"
        }
    }
}

/// Returns a time in this machine's time zone: `2026-11-20 03:12`.
func localTime(_ time: FileTime) -> String {
    let date = CalendarDate(secondsSince1970: time.seconds, isLocal: true)
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(date.year)-\(two(date.month))-\(two(date.day)) \(two(date.hour)):\(two(date.minute))"
}
