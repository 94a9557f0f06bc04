import ArgumentParser
import CommandSupport
import EffectiveValues
import SystemCalls
import SystemPackage

struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Keep volumes above their thresholds.",
        discussion: """
            Below the threshold of low (a tenth of the volume, at most 5 GiB) deletes temporary files \
            and caches, those used longest ago first, and what is marked below mark-roots, until \
            twice that is free. Where not even low can be reached, deletes nothing, except below \
            critical (a twentieth, at most 500 MiB). After a purge in vain waits for five minutes, \
            then longer; below critical, for a minute where nothing was deleted.

            What is deleted is logged to standard error. SIGTERM ends watching after the item at \
            hand; restart it to use a changed configuration. Meant for systemd: \
            resval-purge.service, or the timer of resval-purge-once.service.

            The configuration file, without which the volume of the home is watched:

              volumes = ["~", "/srv"]
              mark-roots = ["~/renders"]      # where marks count
              protected = ["~/Work"]          # never touched
              caches = ["/srv/cache"]         # more directories for caches
              temporary = ["/srv/scratch"]    # and for temporary files
              min-age = "24h"
              [thresholds]
              low = "5G"
              low-percent = 10                # the smaller one counts
              critical = "500M"

            EXIT CODES
              0   ended by SIGTERM; with --once: no volume is below low now
              1   with --once: a volume is still below low
              2   something failed
              64  the command line or the configuration is wrong
            """)

    @Option(
        help: ArgumentHelp(
            "The configuration file. (default: $XDG_CONFIG_HOME/resval/purge.toml)",
            valueName: "file"))
    var config: PathArgument?

    @Flag(help: "Look once, purge where needed, and exit; for timers.")
    var once = false

    func run() throws {
        let settings: WatchSettings
        do {
            settings = try readSettings()
        } catch {
            tell(error)
            throw ExitCode(error is SettingsError ? 64 : 2)
        }
        let watcher = VolumeWatcher(settings, once ? .none : .current, .current)
        if !once {
            watcher.run()
            // SIGTERM is the normal way to stop a service, not a failure.
            return StopRequest.takeBack(SignalNumber.terminate)
        }
        watcher.runOnce()
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

    private func tell(_ error: any Error) {
        let path = config?.path ?? WatchSettings.defaultFile
        let sentence = (error as? SettingsError)?.sentence ?? "\(error)"
        ServiceLog.current.write(.error, about: path?.bytes, sentence)
    }
}
