import SystemPackage
import TestSupport
import Testing

extension BootTests {
    /// Expects what a script prints in a system with everything installed, and a disk.
    private func expectOutput(_ expected: String, of script: String) throws {
        let disk = """
            mkdir --parents /mnt/disk && mount -t tmpfs tmpfs /mnt/disk
            as_user sh -c 'rm -r .config/resval repository'

            """
        let base = try system(running: Self.beginning + disk + script)
        try install(base, "--system")
        let result = try Command(Self.boot, base.appending("system")).run()
        #expect(result.text == expected, "\(result)")
    }

    @Test("setup leads a user to a timer, and says what else is missing")
    func setupOfUser() throws {
        let script = """
            chown tester /mnt/disk
            as_user sh -c 'umask 077; echo secret > Documents/word'
            setup() { as_user /usr/local/bin/resval-backup setup "$@" 2>&1; }
            setup --yes --repository /mnt/disk/r --password-file Documents/word > log; echo "no manager $?"
            grep --only-matching 'no systemd that keeps the timer of this user' log
            systemctl start user@1000.service
            setup --yes | grep --only-matching 'only while you are logged in'
            as_user systemctl --user is-enabled resval-backup.timer
            as_user systemctl --user is-active resval-backup.timer
            as_user /usr/local/bin/resval-backup status | head -1
            setup --yes --linger | grep --only-matching 'only while you are logged in'
            mkdir --parents /var/lib/systemd/linger && touch /var/lib/systemd/linger/tester
            setup --yes > log || cat log
            setup --check | grep --count .
            setup --check | grep --only-matching 'the only known copy'

            """
        try expectOutput(
            """
            no manager 1
            no systemd that keeps the timer of this user
            only while you are logged in
            enabled
            active
            ok
            only while you are logged in
            1
            the only known copy

            """, of: script)
    }

    @Test("setup leads the machine to a timer, and to a unit that can do what its commands need")
    func setupOfMachine() throws {
        let script = """
            (umask 077; echo secret > /root/word)
            export SUDO_UID=1000
            setup() { /usr/local/bin/resval-backup setup --system --yes "$@" > log 2>&1 || cat log; }
            setup --source /home/tester/Documents --repository /mnt/disk/r --password-file /root/word
            systemctl is-enabled resval-backup-system@backup.timer
            configuration=/etc/resval/backup.toml
            sed --in-place '1i before = "/usr/bin/setpriv --reuid 1000 --clear-groups /bin/true"' $configuration
            systemctl start resval-backup-system@backup.service 2> /dev/null; echo "hardened $?"
            systemctl disable --quiet --now resval-backup-system@backup.timer
            setup
            systemctl is-enabled resval-backup-commands@backup.timer
            sed --in-place '2i every = "1s"' $configuration
            systemctl start resval-backup-commands@backup.service; echo "commands $?"
            /usr/local/bin/resval-backup status --config $configuration | head -1
            sed --in-place 's|^sources.*|sources = ["~"]|' $configuration
            /usr/local/bin/resval-backup run --config $configuration 2>&1 | grep --only-matching 'sources names ~'

            """
        try expectOutput(
            """
            enabled
            hardened 1
            enabled
            commands 0
            ok
            sources names ~

            """, of: script)
    }
}
