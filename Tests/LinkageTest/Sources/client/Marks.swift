import ResourceValues
import SystemPackage

/// Reads and stores the marks of a project's items.
func useMarks(of project: FilePath) throws {
    let build = project.appending("build")
    try build.setValue(true, for: .isExcludedFromBackup)
    try build.apply([
        MarkChange(.isPurgeable, to: true), MarkChange(.fileProtection, to: .protection(.complete)),
    ])
    let marks = try build.marks()
    print("excluded: \(marks.isExcludedFromBackup == true)")
    print("purgeable: \(try build.value(for: .isPurgeable) == true)")
    print("protection: \(try build.fileProtection?.rawValue ?? "none")")
    print("removed: \(try build.removeValue(for: .fileProtection))")
    do throws(FileError) {
        try project.appending("missing").setValue(true, for: .isPurgeable)
    } catch {
        print("missing: \(error.code)")
    }
}
