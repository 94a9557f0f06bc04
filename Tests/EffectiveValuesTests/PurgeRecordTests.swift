import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("The record of a volume's newest purge plan", .cleansUp)
struct PurgeRecordTests {
    private let now = FileTime(seconds: 1_800_000_000, nanoseconds: 5)

    private func record(
        created seconds: Int64 = 1_800_000_000, device: UInt64 = 0x8_01, bytes: Int64 = 4096
    ) -> PurgeRecord {
        PurgeRecord(
            created: FileTime(seconds: seconds, nanoseconds: 5), device: device, bootID: "b",
            bytes: bytes)
    }

    @Test("it counts for an hour, in its boot, and on its volume")
    func counting() {
        func counted(
            _ record: PurgeRecord, device: UInt64 = 0x801, boot: String = "b"
        ) -> Int64 {
            record.bytes(onDevice: device, bootID: boot, now: now)
        }
        #expect(counted(record()) == 4096)
        #expect(counted(record(created: now.seconds - 3600)) == 4096)
        #expect(counted(record(created: now.seconds - 3601)) == 0)
        #expect(counted(record(created: now.seconds + 1)) == 0)
        #expect(counted(record(), boot: "c") == 0)
        #expect(counted(record(), device: 0x802) == 0)
    }

    @Test(
        "what is written is read, from a file named after the device, that only its owner's plans replace"
    )
    func roundTrip() throws {
        let root = try temporaryDirectory()
        let records = PurgeRecords(stateHome: root.appending("state"))
        try #expect(records.record(forDevice: 0x801) == nil)
        try #expect(records.purgeableBytes(onDevice: 0x801, now: now) == 0)
        try records.write(record())
        try records.write(record(bytes: 7))
        try #expect(records.record(forDevice: 0x801) == record(bytes: 7))
        #expect(
            records.path(forDevice: 0x801)
                == root.appending(
                    "state/resval/purge/volume-801.json"))
        try #expect(
            tool("cat", records.path(forDevice: 0x801)) == """
                {"created":"2027-01-15T08:00:00.000000005Z","device":2049,"bootID":"b","bytes":7}
                """)
        try #expect(tool("stat", "-c", "%a", root.appending("state/resval/purge")) == "700")
        // A device number of a boot that is gone counts for nothing.
        try #expect(records.purgeableBytes(onDevice: 0x801, now: now) == 0)
        let boot = try tool("cat", "/proc/sys/kernel/random/boot_id")
        try records.write(PurgeRecord(created: now, device: 0x801, bootID: boot, bytes: 12))
        try #expect(records.purgeableBytes(onDevice: 0x801, now: now) == 12)
    }

    @Test(
        "anything else is no record",
        arguments: [
            "", "{}", "[]", "null", #"{"created":"2027-01-15T08:00:00Z","device":1,"bootID":"b"}"#,
            #"{"created":"yesterday","device":1,"bootID":"b","bytes":1}"#,
            #"{"created":"2027-01-15T08:00:00Z","device":-1,"bootID":"b","bytes":1}"#,
            #"{"created":"2027-01-15T08:00:00Z","device":1,"bootID":"","bytes":1}"#,
            #"{"created":"2027-01-15T08:00:00Z","device":1,"bootID":"b","bytes":-1}"#,
            #"{"created":"2027-01-15T08:00:00Z","device":1,"bootID":"b","bytes":1,"more":1}"#,
            #"{"created":"2027-01-15T08:00:00Z","device":1,"bootID":"b","bytes":1,"bytes":9}"#,
            #"{"created":"2027-01-15T08:00:00Z","device":1,"bootID":"b","bytes":1}{}"#,
        ])
    func strictness(text: String) throws {
        let root = try temporaryDirectory()
        let records = PurgeRecords(stateHome: root)
        try Tree { File("resval/purge/volume-1.json", text) }.create(in: root)
        let failure = code { try records.record(forDevice: 1) }
        #expect(failure == .malformedValue)
    }

    @Test("links, directories, long files and other users' files are not read")
    func strangeFiles() throws {
        let root = try temporaryDirectory()
        let records = PurgeRecords(stateHome: root)
        try records.write(record(device: 1))
        let directory = records.directory
        try tool("ln", "-s", "volume-1.json", directory.appending("volume-2.json"))
        try tool("mkdir", directory.appending("volume-3.json"))
        try tool("truncate", "-s", "4096", directory.appending("volume-4.json"))
        for device in 2...4 as ClosedRange<UInt64> {
            #expect(code { try records.record(forDevice: device) } != nil)
        }
        try require(.root)
        try tool("chown", "65534", directory.appending("volume-1.json"))
        #expect(code { try records.record(forDevice: 1) } == .permissionDenied)
    }
}
