import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Inputs of the fuzz targets")
struct CorpusTests {
    private static let directory = FilePath(#filePath).removingLastComponent()

    private static let targets: [String: @Sendable (UnsafePointer<UInt8>?, Int) -> CInt] = [
        "AttributeValueFuzz": fuzzAttributeValue, "EvictedFileFuzz": fuzzEvictedFile,
        "FormerUsageFuzz": fuzzFormerUsage, "MarkLineFuzz": fuzzMarkLine,
        "NamesFuzz": fuzzNames, "PaxFuzz": fuzzPax, "PurgePlanFuzz": fuzzPurgePlan,
        "PurgeRecordFuzz": fuzzPurgeRecord, "ResticFuzz": fuzzRestic, "RulesFuzz": fuzzRules,
        "SettingsFuzz": fuzzSettings, "SystemFilesFuzz": fuzzSystemFiles,
        "TemporaryFilesFuzz": fuzzTemporaryFiles, "TimeFuzz": fuzzTime,
    ]

    @Test("every target is among those whose inputs are tried here")
    func all() throws {
        let names = try tool("ls", Self.directory).split(separator: "\n")
            .filter { $0.hasSuffix("Fuzz.swift") }.map { String($0.dropLast(6)) }
        #expect(Set(names) == Set(Self.targets.keys))
    }

    @Test("nothing, each byte and all of the corpus are read", arguments: targets.keys.sorted())
    func replay(name: String) throws {
        let target = try #require(Self.targets[name])
        let files = try tool(
            "find", Self.directory.appending("Corpora"), "-type", "f", "-path", "*/\(name)/*"
        ).split(separator: "\n")
        let corpus = try files.map { try contentsOfFile(FilePath(String($0))) }
        for input in [[]] + (0...255).map({ [$0] }) + corpus {
            #expect(input.withUnsafeBufferPointer { target($0.baseAddress, $0.count) } == 0)
        }
    }
}
