import ArgumentParser
import CommandSupport
import EffectiveValues
import SystemCalls
import SystemPackage

/// The command `resval-purge watch`.
struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Keep volumes above their thresholds.",
        discussion: """
            Looks at each volume's bytes, inodes and quotas, more often as they run short. Below \
            the threshold of low (a tenth of the volume, at most 5 GiB) it deletes temporary files \
            and caches, those used longest ago first, and what is marked purgeable below the \
            directories the configuration names, until twice the threshold is free. Where not even \
            the threshold can be reached it deletes nothing, but for a volume below critical (a \
            twentieth, at most 500 MiB). After a purge in vain it waits for five minutes, then \
            longer; below critical only until more can be deleted than before.

            Deletions are logged to standard error, with priorities where the journal reads it. \
            SIGTERM ends watching after the item at hand, with exit code 0; SIGHUP reads the \
            configuration again. Meant for systemd: resval-purge.service, or the timer of \
            resval-purge-once.service.

            The configuration file is $XDG_CONFIG_HOME/resval/purge.toml; without one the volume \
            of the home is watched:

              volumes = ["~", "/srv"]
              mark-roots = ["~/renders"]
              protected = ["~/Work"]
              caches = ["/srv/cache"]
              temporary = ["/srv/scratch"]
              min-age = "24h"

              [thresholds]
              low-percent = 10
              low = "5G"
              critical-percent = 5
              critical = "500M"

            A volume that was unmounted, or is in /etc/fstab and not mounted, is an error. \
            Directories that the file names and that do not exist are reported, at the start and \
            when it is read again. A directory of the system, such as /etc, /usr or /var/lib, a \
            home, and directories for documents, settings, keys or data are refused for caches and \
            temporary.

            EXIT CODES
              0   ended by SIGTERM; with --once: no volume is below low now
              1   with --once: a volume is still below low
              2   something failed
              64  the command line or the configuration is wrong

            EXAMPLES
              resval-purge watch
              resval-purge watch --once --config /etc/resval/purge.toml
            """)

    @Option(
        help: ArgumentHelp(
            "The configuration file. Without it, $XDG_CONFIG_HOME/resval/purge.toml.",
            valueName: "file"))
    var config: PathArgument?

    @Flag(help: "Check the volumes once, purge where needed, and exit; for timers.")
    var once = false

    func run() throws {
        let settings: WatchSettings
        do {
            settings = try readSettings()
        } catch {
            tell(error)
            throw ExitCode(error is SettingsError ? 64 : 2)
        }
        let log = ServiceLog.current
        let watcher = VolumeWatcher(settings, once ? .none : .current, log) { settings in
            .current(named: settings.locations)
        }
        if once {
            watcher.runOnce()
        } else {
            ReloadRequest.beginListening()
            watcher.run { readAgain() }
            // SIGTERM is the normal way to stop a service, not a failure.
            StopRequest.takeBack(SignalNumber.terminate)
            return
        }
        if watcher.hasFailures { throw ExitCode(2) }
        if watcher.isShort { throw ExitCode(1) }
    }

    /// Returns the settings. Logs a warning for each configured directory that does not exist.
    private func readSettings() throws -> WatchSettings {
        let settings =
            try config.map { try WatchSettings.read($0.path) } ?? WatchSettings.readUsual()
        try settings.requirePlausibleLocations(in: .current(named: settings.locations))
        for (path, sentence) in settings.missingDirectories() {
            ServiceLog.current.write(.warning, about: path.bytes, sentence)
        }
        return settings
    }

    /// Reads the settings again; logs a message and returns nil when they are invalid.
    private func readAgain() -> WatchSettings? {
        do {
            return try readSettings()
        } catch {
            tell(error)
            return nil
        }
    }

    private func tell(_ error: any Error) {
        let path = config?.path ?? WatchSettings.defaultFile
        if let error = error as? SettingsError {
            let line = error.line.map { "line \($0): " } ?? ""
            ServiceLog.current.write(.error, about: path?.bytes, line + error.description)
        } else {
            ServiceLog.current.write(.error, about: path?.bytes, "\(error)")
        }
    }
}
