import SystemPackage
import TestSupport
import Testing

extension BootTests {
    @Test(
        "setup leads to timers, of a user and of the machine, and to units that can do what commands need"
    )
    func setup() throws {
        let script =
            Self.beginning + """
                mkdir /mnt/disk && mount -t tmpfs tmpfs /mnt/disk && mkdir /mnt/disk/theirs
                chown tester /mnt/disk/theirs
                as_user sh -c 'rm -r .config/resval repository; umask 077; echo secret > Documents/word'
                as_user env SUDO_UID=1 /usr/local/bin/resval-backup setup --yes --repository /mnt/disk/theirs/r \\
                    --password-file Documents/word > log 2>&1; echo "no manager $?"
                grep --only-matching 'no systemd that keeps the timer of this user' log
                systemctl start user@1000.service
                as_user /usr/local/bin/resval-backup setup --yes > log 2>&1 || cat log
                as_user systemctl --user is-enabled resval-backup.timer
                as_user systemctl --user is-active resval-backup.timer
                as_user /usr/local/bin/resval-backup status | head -1
                as_user /usr/local/bin/resval-backup setup --yes --linger 2>&1 | grep --only-matching 'only while you are logged in'
                as_user /usr/local/bin/resval-backup setup --check 2>&1 | grep --count .
                as_user /usr/local/bin/resval-backup setup --check 2>&1 | grep --only-matching 'the only known copy'
                (umask 077; echo secret > /root/word)
                SUDO_UID=1 /usr/local/bin/resval-backup setup --system --yes --source /home/tester/Documents \\
                    --repository /mnt/disk/machine --password-file /root/word > log 2>&1 || cat log
                systemctl is-enabled resval-backup-system@backup.timer
                sed --in-place '1i before = "/usr/bin/setpriv --reuid 1000 --clear-groups /bin/true"' /etc/resval/backup.toml
                systemctl start resval-backup-system@backup.service 2> /dev/null; echo "hardened $?"
                systemctl disable --quiet --now resval-backup-system@backup.timer
                SUDO_UID=1 /usr/local/bin/resval-backup setup --system --yes > log 2>&1 || cat log
                systemctl is-enabled resval-backup-commands@backup.timer
                systemctl start resval-backup-commands@backup.service; echo "commands $?"
                sed --in-place '2i every = "1s"' /etc/resval/backup.toml
                systemctl start resval-backup-commands@backup.service; echo "commands $?"
                /usr/local/bin/resval-backup status --config /etc/resval/backup.toml | head -1
                sed --in-place 's|^sources.*|sources = ["~"]|' /etc/resval/backup.toml
                /usr/local/bin/resval-backup run --config /etc/resval/backup.toml 2>&1 | grep --only-matching 'sources names ~'

                """
        try withSystem(script) { base in
            try install(base, "--system")
            let result = try Command(Self.boot, base.appending("system")).run()
            #expect(
                result.text == """
                    no manager 1
                    no systemd that keeps the timer of this user
                    enabled
                    active
                    ok
                    only while you are logged in
                    1
                    the only known copy
                    enabled
                    hardened 1
                    enabled
                    commands 0
                    commands 0
                    ok
                    sources names ~

                    """, "\(result)")
        }
    }
}
