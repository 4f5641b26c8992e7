use std::collections::BTreeMap;

use host_settings::configuration::Owner;
use host_settings::environment::{Environment, Terminals};

use super::*;
use crate::plugins::store::USER_LOCKFILE;

fn folders(home: &Path) -> Folders {
    let environment = Environment::new(BTreeMap::new(), Some(home.to_owned()), Terminals::default());
    environment.folders().expect("there is a home")
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    std::fs::write(path, text).expect("written");
}

#[test]
fn sources_notice_a_change_of_every_file_that_they_read() {
    let home = tempfile::tempdir().expect("a folder");
    let (project, dist, one) = (home.path().join("project"), home.path().join("dist"), home.path().join("one.wasm"));
    let folders = folders(home.path());
    let program = home.path().join("bin/tools");
    let words = vec![program.to_str().expect("a plain path").to_owned()];
    let commands = Commands { discovery: words.clone(), call: words, owner: Owner::User };
    let environment = Environment::new(Default::default(), None, Terminals::default());
    let settings = PluginSettings::read(&Configuration::default(), &environment).expect("nothing is set");
    let mut sources = PluginSources::new(&[dist.clone(), one.clone()], Some(commands), false, settings);
    let mut changed = || sources.look(&project, &folders);
    for (file, counts) in [
        (dist.join("a.wasm"), true),
        (dist.join("a.json"), true),
        (dist.join("notes.txt"), false),
        (one.clone(), true),
        (one.with_extension("json"), true),
        (project.join(".host/plugins/b.wasm"), true),
        (project.join(".host/plugins.lock"), true),
        (project.join(".host/agents/b.md"), true),
        (project.join(".host/tools/b.sh"), true),
        (project.join("src/main.rs"), false),
        (folders.trust.clone(), true),
        (folders.keys.clone(), true),
        (folders.configuration.join(USER_LOCKFILE), true),
        (folders.configuration.join("config.toml"), false),
        (folders.plugins.join("1.tar"), true),
        (folders.sessions.join("1.jsonl"), false),
        (program.clone(), true),
    ] {
        // A new file that does not count may still be an entry of a folder that does.
        write(&file, "one");
        changed();
        assert!(!changed(), "looking is no change");
        // Another file under the same name, of the same size.
        let other = home.path().join("new");
        write(&other, "two");
        std::fs::rename(&other, &file).expect("moved");
        // The folder of a file changes with it: what counts is what the search reads.
        assert_eq!(changed(), counts || file.parent() == Some(&dist), "{}", file.display());
    }
    std::fs::remove_file(dist.join("a.wasm")).expect("removed");
    assert!(changed());
}
