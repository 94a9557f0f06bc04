import CZlib
import CommandSupport
import ResourceValues
import SystemCalls
import TextFormats
import UsageReporting

/// A file with a report as a page for browsers: a map and a table, which need no network.
///
/// Nothing of a report is markup or script. It is compressed JSON in Base64, which the page's script
/// reads and shows as text only. The page's own policy forbids every request, and every script and
/// style but its own.
struct UsagePage {
    private let path: PathArgument

    init(at path: PathArgument) { self.path = path }

    /// Writes the file at once; only its owner can read it.
    func write(_ report: UsageReport) throws(FileError) {
        let page = Self.page(of: report)
        if path.isDash { return StandardOutput.shared.write(page) }
        var file = try OutputFile(at: path.path)
        try file.write(page)
        try file.finish()
    }

    private static func page(of report: UsageReport) -> [UInt8] {
        let tree = PageTree(report)
        var line = JSONLine()
        line.add("notes", strings: notes(on: report, tree))
        tree.add(to: &line)
        var packed: [UInt8] = []
        Base64.append(compressed(line.ended()), to: &packed)
        return filled(
            PackageResources.page_html,
            [
                "policy": Array(policy.utf8), "style": style, "script": script, "report": packed,
            ])
    }

    /// Returns what the numbers do not say.
    private static func notes(on report: UsageReport, _ tree: PageTree) -> [String] {
        var notes = ["measured \(FileTime.now.localText)"]
        if !report.problems.isEmpty {
            let items = counted(report.problems.count, "item")
            notes.append("\(items) could not be read: sizes are missing")
        }
        if report.countsClonesInFull {
            notes.append("files that share extents count in full (--exact counts them once)")
        }
        let folded =
            report.directoryCount + (tree.hasSumOfRoots ? 1 : 0) - tree.directories.count
        if folded > 0 {
            notes.append(
                "\(counted(folded, "smaller directory counts", "smaller directories count")) "
                    + "in those above")
        }
        return notes
    }
}

extension UsagePage {
    private static let style = PackageResources.page_css
    private static let script =
        PackageResources.report_js + PackageResources.view_js + PackageResources.patterns_js
        + PackageResources.squarify_js + PackageResources.treemap_js + PackageResources.table_js
        + PackageResources.page_js

    /// The page's policy, with the SHA-256 of the script and of the style: constants, so that nothing
    /// need be hashed to write a page. A browser that finds another hash runs nothing, and names it.
    private static let policy = [
        "default-src 'none'",
        "script-src 'sha256-OAMESESgI0/zibJgGVFp3BshXjbvgXI12fE/2lgsafY='",
        "style-src 'sha256-p9PLgaNvEqOc4MOm3kTkOVGNaqy5C5pbEhU/xSWR+Kc='",
        "base-uri 'none'", "form-action 'none'",
        // Nothing turns text into markup or script.
        "require-trusted-types-for 'script'", "trusted-types",
    ].joined(separator: "; ")
}

/// Returns bytes in zlib's format (RFC 1950).
private func compressed(_ bytes: [UInt8]) -> [UInt8] {
    var count = compressBound(uLong(bytes.count))
    return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
        let result = compress(buffer.baseAddress, &count, bytes, uLong(bytes.count))
        precondition(result == Z_OK, "zlib has no memory")
        initialized = Int(count)
    }
}

/// Returns a template with each `{{name}}` replaced. What is put in is not searched again.
private func filled(_ template: [UInt8], _ values: [String: [UInt8]]) -> [UInt8] {
    var output: [UInt8] = []
    var rest = template[...]
    while let start = rest.firstRange(of: "{{".utf8), let end = rest.firstRange(of: "}}".utf8) {
        let name = String(decoding: rest[start.upperBound..<end.lowerBound], as: UTF8.self)
        guard let value = values[name] else { preconditionFailure("\(name) has no value") }
        output += rest[..<start.lowerBound]
        output += value
        rest = rest[end.upperBound...]
    }
    return output + rest
}
