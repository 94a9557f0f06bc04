#if !canImport(Darwin)
import ResourceValuesDropIn
import SystemCalls
import SystemPackage

/// Receives the metrics of the program.
public protocol MXMetricManagerSubscriber: NSObjectProtocol {
    /// Called on a queue of the manager with new payloads, at most once a day.
    func didReceive(_ payloads: [MXMetricPayload])
}

extension MXMetricManagerSubscriber {
    /// Ignores the payloads.
    public func didReceive(_ payloads: [MXMetricPayload]) {}
}

/// Measures what the program takes on disk, once a day, and passes it to subscribers.
///
/// The first payload is made when a subscriber is added and no process of the program has made one
/// in the last 24 hours; the next ones while the program runs and has subscribers.
public final class MXMetricManager: NSObject, Sendable {
    /// The manager of this program.
    public static let shared = MXMetricManager(history: .usual())

    private let history: PayloadHistory
    private let now: @Sendable () -> FileTime
    private let state: Monitor<State>
    private let queue = DispatchQueue(label: "MXMetricManager")

    private static let hour: Int64 = 60 * 60
    private static let day = 24 * hour

    private struct State {
        var subscribers: [Subscriber] = []
        var files: ProgramFiles?
        var version = Bundle.main.infoDictionary?["CFBundleShortVersionString"] as? String ?? ""
        /// What this process has made, in case that the history cannot be stored.
        var own: [MXMetricPayload] = []
        var isScheduled = false
    }

    private struct Subscriber: @unchecked Sendable {
        weak var object: (any MXMetricManagerSubscriber)?
    }

    init(history: PayloadHistory, now: @escaping @Sendable () -> FileTime = { .now }) {
        self.history = history
        self.now = now
        state = Monitor(State())
    }

    /// The directories and files that the program is installed in. Not in Apple's API.
    ///
    /// The executable, unless it is set. What does not exist counts nothing.
    public var installation: [URL] {
        get { files().installation.map { URL(fileURLWithPath: $0.string) } }
        set { change { $0.installation = newValue.map { FilePath($0.path) } } }
    }

    /// The directories and files with the program's data. Not in Apple's API.
    ///
    /// The directories named as the executable in `$XDG_DATA_HOME`, `$XDG_CONFIG_HOME`,
    /// `$XDG_STATE_HOME` and `$XDG_CACHE_HOME`, unless it is set. What does not exist counts
    /// nothing.
    public var dataDirectories: [URL] {
        get { files().data.map { URL(fileURLWithPath: $0.string) } }
        set { change { $0.data = newValue.map { FilePath($0.path) } } }
    }

    /// The version of the program in payloads. Not in Apple's API.
    ///
    /// `CFBundleShortVersionString` of the main bundle, which few programs here have, unless it is
    /// set; else empty.
    public var applicationVersion: String {
        get { state.withLock { $0.version } }
        set { state.withLock { $0.version = newValue } }
    }

    /// The payloads of the last 30 times that one was made, oldest first, whichever process of the
    /// program made it.
    ///
    /// They are in `$XDG_STATE_HOME/resval/metrics/PROGRAM.jsonl`, where PROGRAM is the executable's
    /// name and a hash of its path. Those of this process if that cannot be read, which is also
    /// written to standard error.
    public var pastPayloads: [MXMetricPayload] {
        do throws(FileError) {
            let payloads = try history.payloads()
            if !payloads.isEmpty { return payloads }
        } catch {
            NSLog("MXMetricManager: \(error)")
        }
        return state.withLock { $0.own }
    }

    /// Adds a subscriber, which is not kept alive.
    public func add(_ subscriber: any MXMetricManagerSubscriber) {
        let added = Subscriber(object: subscriber)
        state.withLock { $0.subscribers.append(added) }
        queue.async { self.makeIfDue() }
    }

    /// Removes a subscriber.
    public func remove(_ subscriber: any MXMetricManagerSubscriber) {
        let removed = Subscriber(object: subscriber)
        state.withLock { state in
            state.subscribers.removeAll { $0.object == nil || $0.object === removed.object }
        }
    }

    /// Waits for what was begun by ``add(_:)``.
    func waitUntilIdle() { queue.sync {} }

    /// Makes a payload and passes it on, if one is due and anyone receives it; then waits for the
    /// next. Runs on the queue.
    private func makeIfDue() {
        let subscribers = subscribersLeft()
        guard !subscribers.isEmpty else { return }
        let end = now()
        // If another process measures now and does not end it, this one does.
        var next = Self.hour
        let make = { [self] (newest: MXMetricPayload?) -> MXMetricPayload? in
            let last = (newest ?? state.withLock { $0.own.last }).map { FileTime($0.timeStampEnd) }
            next = Self.day
            // A payload from the future tells nothing: the clock was wrong.
            if let last, last.seconds <= end.seconds, end.seconds - last.seconds < Self.day {
                next = Self.day - (end.seconds - last.seconds)
                return nil
            }
            let dayBefore = FileTime(
                seconds: end.seconds - Self.day, nanoseconds: end.nanoseconds)
            let isRecent = last.map { dayBefore < $0 && $0 < end } ?? false
            return MXMetricPayload(
                version: applicationVersion, begin: isRecent ? last ?? dayBefore : dayBefore,
                end: end, Result { () throws(FileError) in try files().measure() })
        }
        var made: MXMetricPayload?
        do throws(FileError) {
            made = try history.add(make)
        } catch {
            NSLog("MXMetricManager: \(error)")
            made = make(nil)
        }
        schedule(in: next)
        guard let made else { return }
        state.withLock { $0.own.append(made) }
        for subscriber in subscribers { subscriber.didReceive([made]) }
    }

    private func subscribersLeft() -> [any MXMetricManagerSubscriber] {
        let left = state.withLock { state in
            state.subscribers.removeAll { $0.object == nil }
            return state.subscribers
        }
        return left.compactMap(\.object)
    }

    /// Waits on the clock that goes on while the machine sleeps.
    private func schedule(in seconds: Int64) {
        let isFirst = state.withLock { state in
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        guard isFirst else { return }
        queue.asyncAfter(wallDeadline: .now() + .seconds(Int(seconds) + 1)) { [weak self] in
            self?.state.withLock { $0.isScheduled = false }
            self?.makeIfDue()
        }
    }

    private func files() -> ProgramFiles {
        state.withLock { $0.files } ?? .usual()
    }

    private func change(_ body: (inout ProgramFiles) -> Void) {
        var files = files()
        body(&files)
        let changed = files
        state.withLock { $0.files = changed }
    }
}
#endif
