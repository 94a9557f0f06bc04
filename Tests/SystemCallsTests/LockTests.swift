import CLinux
import Dispatch
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Locks", .timeLimit(.minutes(5)), .cleansUp)
struct LockTests {
    typealias Lock = @Sendable (FileDescriptor) throws -> Bool

    private static let locks: [Lock] = [
        { try waitForLock(on: $0) }, { try waitForLock(onByte: 7, of: $0) },
    ]

    @Test("a lock that is released soon is waited for, and no other", arguments: locks)
    func waiting(lock: Lock) throws {
        let root = try temporaryDirectory { File("lock", "") }
        let path = root.appending("lock").withoutFollowing
        let waiting = OwnedDescriptor(try openFile(path, flags: .readWrite))
        let queue = DispatchQueue(label: "release")
        var isTaken = false
        // On a busy machine the release may be late.
        for _ in 0..<5 where !isTaken {
            let holder = try openFile(path, flags: .readWrite)
            try #require(try lock(holder))
            #expect(try !lock(waiting.descriptor))
            queue.async {
                usleep(10_000)
                closeIgnoringErrors(holder)
            }
            isTaken = try lock(waiting.descriptor)
            queue.sync {}
        }
        #expect(isTaken)
    }

    @Test("a lock of another byte is not waited for")
    func bytes() throws {
        let root = try temporaryDirectory { File("lock", "") }
        let path = root.appending("lock").withoutFollowing
        let first = OwnedDescriptor(try openFile(path, flags: .readWrite))
        let second = OwnedDescriptor(try openFile(path, flags: .readWrite))
        #expect(try waitForLock(onByte: 7, of: first.descriptor))
        #expect(try waitForLock(onByte: 8, of: second.descriptor))
    }
}
