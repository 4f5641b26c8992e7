//! Files that a confined program may not read, and those that it may not change.

use super::world::check;
use super::{Attack, Control, How, kept, python, shell};

const DENIED: &str = "Permission denied";
/// A mount that cannot be written, removed or moved.
const FIXED: &str = "Read-only file system|Device or resource busy|Invalid cross-device link|Permission denied";

const READING: &[Attack] = &[
    shell("key of ssh", "cat ~/.ssh/id_ed25519", DENIED),
    shell("credentials of a cloud", "cat ~/.aws/credentials", DENIED),
    shell("login of a package manager", "cat ~/.npmrc", DENIED),
    shell("login beside a toolchain", "cat ~/.cargo/credentials.toml", DENIED),
    shell("login of a forge", "cat ~/.config/gh/hosts.yml", DENIED),
    shell("listing the home", "ls -A ~ | grep .", "cannot open"),
    shell("listing a folder of secrets", "ls ~/.ssh | grep id", "cannot access|cannot open"),
    shell("a different project", "cat $OUT/project/notes", DENIED),
    // CVE-2025-54794 (Claude Code): paths were compared as text.
    shell("a folder with the same beginning", "cat $TWIN/notes", DENIED),
    shell("the way up", "cat ../../../../../..$OUT/secret", DENIED),
    shell("the way up through a folder that exists", "cat src/../../../../../..$OUT/secret", DENIED),
    shell("double slashes", "cat //$OUT//secret", DENIED),
    shell("an absolute link", "ln -s $OUT/secret l1 && cat l1", DENIED),
    shell("a link to a folder", "ln -s $OUT l2 && cat l2/secret", DENIED),
    shell("a chain of links", "ln -s $OUT/secret l3a && ln -s l3a l3b && ln -s l3b l3c && cat l3c", DENIED),
    shell("a link through /proc", "ln -s /proc/self/root$OUT/secret l4 && cat l4", DENIED),
    // The alias that denylists of paths miss: published for Claude Code, March 2026.
    shell("the root of its own process", "cat /proc/self/root$OUT/secret", DENIED),
    shell("the root of a thread", "cat /proc/thread-self/root$OUT/secret", DENIED),
    shell(
        "the working folder of its process",
        "cat /proc/self/cwd/$(realpath -sm --relative-to=$WORK $OUT)/secret",
        DENIED,
    ),
    shell("a descriptor of a folder above", "exec 5< /; cat /dev/fd/5$OUT/secret", DENIED),
    shell(
        "a hard link",
        "ln ~/.ssh/id_ed25519 stolen && cat stolen",
        "Invalid cross-device link|Permission denied|not permitted",
    ),
    shell(
        "a rename into the workspace",
        "mv $OUT/secret taken && cat taken",
        "cannot move|Permission denied|cannot stat",
    ),
    shell("a copy by the kernel", "cp --reflink=auto $OUT/secret copied && cat copied", DENIED),
    shell(
        "an archive of the home",
        "tar cf a.tar -C ~ .ssh && tar xOf a.tar .ssh/id_ed25519",
        "Permission denied|Cannot",
    ),
    shell("as an object of git", "git hash-object $OUT/secret", "could not open|Permission denied"),
    shell(
        "by git's own comparison",
        "git diff --no-index /dev/null $OUT/secret; test $? = 1",
        "Could not access|Permission denied",
    ),
    shell(
        "as a repository",
        "git -C $OUT/project init -q . && ls $OUT/project/.git/HEAD",
        "Permission denied|Read-only",
    ),
    python("opened by path only", "os.open(OUT + '/secret', os.O_PATH); open(OUT + '/secret').read()", DENIED),
    python(
        "opened beneath a folder",
        "fd = os.open('/', os.O_PATH); os.open(OUT[1:] + '/secret', os.O_RDONLY, dir_fd=fd)",
        DENIED,
    ),
    python(
        "opened by the newest call",
        "how = struct.pack('QQQ', os.O_RDONLY, 0, 0)\ncall('openat2', -100, ctypes.c_char_p((OUT + \
                 '/secret').encode()), how, len(how))",
        // Its arguments cannot be seen by a filter: libraries take the older call, which is looked at.
        "Function not implemented",
    ),
    python(
        "mapped into memory",
        "f = os.open(OUT + '/secret', os.O_RDONLY); mmap.mmap(f, 0, prot=mmap.PROT_READ)",
        DENIED,
    ),
    python("a watch on a folder", "os.listdir(OUT)", DENIED),
    shell("shared memory of this machine", "cat $SHARED", "No such file|Permission denied"),
    shell("the kernel's log", "dd if=/dev/kmsg bs=8192 count=1 iflag=nonblock | grep -q .", DENIED)
        .controlled(Control::Root),
];

const WRITING: &[Attack] = &[
    shell("a new file in the home", "echo x > ~/new", "Permission denied|Read-only"),
    shell("a start file of the user's shell", "echo 'touch /tmp/owned' >> ~/.bashrc", "Permission denied|Read-only"),
    shell(
        "a key that may log in",
        "mkdir -p ~/.ssh && echo key >> ~/.ssh/authorized_keys",
        "Permission denied|Read-only",
    ),
    shell(
        "a service of the user",
        "mkdir -p ~/.config/systemd/user && echo x > ~/.config/systemd/user/a.service",
        "Permission denied|Read-only",
    ),
    shell(
        "an entry of autostart",
        "mkdir -p ~/.config/autostart && echo x > ~/.config/autostart/a.desktop",
        "Permission denied|Read-only",
    ),
    shell(
        "settings of git for the user",
        "git config --global core.hooksPath /tmp/hooks",
        "Permission denied|Read-only|could not lock",
    ),
    shell("a different project", "echo x >> $OUT/project/notes", "Permission denied|Read-only"),
    shell("a folder with the same beginning", "echo x >> $TWIN/notes", "Permission denied|Read-only"),
    shell("beside the workspace", "echo x > ../new-$$ && rm ../new-$$", "Permission denied|Read-only"),
    shell("through a link", "ln -sf $OUT/secret w1 && echo x > w1", "Permission denied|Read-only"),
    shell("through a linked folder", "ln -sfn $OUT w2 && echo x > w2/new", "Permission denied|Read-only"),
    shell("emptied", "truncate -s 0 $OUT/secret", "Permission denied|Read-only"),
    python(
        "emptied by path",
        "call('truncate', ctypes.c_char_p((OUT + '/secret').encode()), 0)",
        "Permission denied|Read-only",
    ),
    python(
        "emptied while it is opened for reading",
        "os.open(OUT + '/secret', os.O_RDONLY | os.O_TRUNC)",
        "Permission denied|Read-only",
    ),
    shell("removed", "rm -f $OUT/secret && test ! -e $OUT/secret", "Permission denied|Read-only|cannot remove"),
    shell("moved out", "mv file $OUT/out", "Permission denied|Read-only|cross-device|cannot"),
    shell("exchanged", "mv -T $OUT/project w3", "Permission denied|Read-only|cross-device|cannot"),
    shell("linked into", "ln file $OUT/linked", "cross-device|Permission denied|Read-only|not permitted"),
    shell(
        "mode of a file outside",
        "chmod 777 $OUT/secret && test $(stat -c %a $OUT/secret) = 777",
        "Read-only|not permitted|Permission denied",
    ),
    shell(
        "time of a file outside",
        "touch -d 2001-01-01 $OUT/secret && test $(stat -c %Y $OUT/secret) -lt 1000000000",
        "Read-only|Permission denied",
    ),
    shell(
        "attribute of a file outside",
        "setfattr -n user.a -v b $OUT/secret || python3 -c \"import os; os.setxattr('$OUT/secret', 'user.a', \
             b'b')\"",
        "Read-only|not permitted|not supported|Permission denied",
    ),
    shell("a pipe outside", "mkfifo $OUT/pipe", "Permission denied|Read-only"),
    shell("a system file", "echo x > /etc/host-escape-test && rm /etc/host-escape-test", "Permission denied|Read-only")
        .controlled(Control::Root),
    shell(
        "a program of the system",
        "cp -p /bin/true /usr/local/bin/host-escape-test && rm /usr/local/bin/host-escape-test",
        "Permission denied|Read-only|cannot create",
    )
    .controlled(Control::Root),
    shell(
        "jobs of cron",
        "mkdir -p /var/spool/cron/crontabs && echo x > /var/spool/cron/crontabs/host-escape-test && rm \
             /var/spool/cron/crontabs/host-escape-test",
        "Permission denied|Read-only|cannot create",
    )
    .controlled(Control::Root),
    shell(
        "jobs of cron of the system",
        "mkdir -p /etc/cron.d && echo '' > /etc/cron.d/host-escape-test && rm /etc/cron.d/host-escape-test",
        "Permission denied|Read-only|cannot create",
    )
    .controlled(Control::Root),
    shell(
        "libraries that the loader preloads",
        "test ! -e /etc/ld.so.preload && : > /etc/ld.so.preload && rm /etc/ld.so.preload",
        "Permission denied|Read-only",
    )
    .controlled(Control::Root),
];

const PROTECTED: &[Attack] = &[
    kept("a new hook", "echo x > .git/hooks/pre-commit"),
    kept("a hook that exists", "echo x >> .git/hooks/sample"),
    kept("a hook that becomes another", "mv .git/hooks/sample .git/hooks/pre-commit"),
    kept("a link in place of a hook", "ln -s $WORK/src/main.rs .git/hooks/post-checkout"),
    kept(
        "a hook that may be run",
        "chmod 700 .git/hooks/sample && test -x .git/hooks/sample && test $(stat -c %a .git/hooks/sample) = 700",
    ),
    kept("hooks moved away", "mv .git/hooks .git/old && mkdir .git/hooks && echo x > .git/hooks/pre-commit"),
    shell("the repository moved away", "mv .git .git2 && mkdir -p .git/hooks && echo x > .git/hooks/pre-commit", FIXED),
    kept("settings of the repository", "git config core.fsmonitor 'touch owned'"),
    kept("settings by the file", "printf '[core]\\n\\thooksPath = evil\\n' >> .git/config"),
    kept("settings that are replaced", "echo x > .git/c && mv -f .git/c .git/config"),
    kept("settings through a link", "ln -s .git/config s1 && echo x >> s1"),
    shell(
        "settings through a hard link",
        "ln .git/config s2 && echo x >> s2",
        "cross-device|Read-only|not permitted|Permission denied",
    ),
    kept("settings by the lock of git", "echo x > .git/config.lock && mv .git/config.lock .git/config"),
    kept("an alias that runs a program", "git config alias.st '!touch owned'"),
    kept("a filter that runs a program", "git config filter.x.clean 'touch owned'"),
    shell("settings of the host", "echo 'x = 1' >> .host/config.toml", FIXED),
    shell("the folder of the host moved", "mv .host .host2 && mkdir .host && echo x > .host/config.toml", FIXED),
    shell("a tool of the project", "mkdir -p .host/tools && echo x > .host/tools/evil", FIXED),
    shell("an agent of the project", "mkdir -p .host/agents && echo x > .host/agents/evil.md", FIXED),
    shell("a start file in the workspace", "echo x >> .bashrc", FIXED),
    shell("a start file that is replaced", "echo x > b1 && mv -f b1 .bashrc", FIXED),
    shell(
        "a mount over the hooks",
        "mkdir m1 && mount --bind m1 .git/hooks",
        "permission denied|not permitted|must be superuser|failed",
    )
    .controlled(Control::Other(How::Shell("unshare -m sh -c 'mkdir m1 && mount --bind m1 .git/hooks'"))),
    shell(
        "a mount taken away",
        "umount .git/hooks",
        "not permitted|must be superuser|failed|not mounted|permission denied",
    )
    .controlled(Control::Other(How::Shell(
        "mkdir m2; unshare -m sh -c 'mount --bind m2 .git/hooks && umount .git/hooks'",
    ))),
    python("an exchange of folders", "os.mkdir('x1'); exchange('x1', '.git/hooks')", "cross-device"),
    python("an exchange of the repository", "os.mkdir('x2'); exchange('x2', '.git')", FIXED),
    // A program may destroy what it may change, so these are last.
    kept("hooks removed", "rm -rf .git/hooks && mkdir .git/hooks"),
    kept("hooks that are a link", "mkdir evil1 && rm -r .git/hooks && ln -s ../evil1 .git/hooks"),
    shell(
        "the repository in an archive",
        "cp -r .git copy && rm -rf .git && mv copy .git && echo x > .git/hooks/pre-commit",
        FIXED,
    ),
    shell("the repository by a pointer", "cp -r .git evil2 && rm -rf .git && echo 'gitdir: evil2' > .git", FIXED),
];

// promise confine.files
#[test]
fn escape_programs_read_nothing_that_is_not_theirs() {
    check(READING);
}

// promise confine.files
#[test]
fn escape_programs_change_nothing_outside() {
    check(WRITING);
}

// promise confine.files
#[test]
fn escape_programs_change_nothing_that_others_obey() {
    check(PROTECTED);
}
