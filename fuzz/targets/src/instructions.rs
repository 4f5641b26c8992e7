//! Skills and command files, which a project brings.

use std::path::PathBuf;

use host_settings::skills::{FoundSkill, SkillOrigin, Skills};
use host_settings::slash_commands::sources::CommandFormat;
use host_settings::slash_commands::{CommandOwner, CommandSource, FoundCommand, SlashCommands};

/// What the model and the user read of a file before it is used stays on its line and controls no terminal, whether the
/// file is valid or not.
pub fn instructions(data: &[u8]) {
    let text = String::from_utf8_lossy(data).into_owned();
    let path = PathBuf::from("/x/name");
    let skill = |name: &str| FoundSkill {
        name: name.to_owned(),
        folder: path.clone(),
        origin: SkillOrigin::Project,
        text: Ok(text.clone()),
    };
    let skills = Skills::read(vec![skill("name"), skill(&text)], 0);
    let lines = skills.catalog().lines().filter(|line| line.starts_with("- `")).count();
    assert_eq!(lines, skills.all().filter(|skill| !skill.file.only_by_user).count());
    let command = |name: &str, format| FoundCommand {
        name: name.to_owned(),
        path: path.clone(),
        source: CommandSource { owner: CommandOwner::Project, format },
        text: Ok(text.clone()),
    };
    let commands = SlashCommands::read(
        vec![
            command("markdown", CommandFormat::Markdown),
            command("gemini", CommandFormat::Gemini),
            command(&text, CommandFormat::Markdown),
        ],
        0,
    );
    let notices = skills.notices.iter().map(ToString::to_string).chain(commands.notices.iter().cloned());
    let notices: Vec<String> = notices.collect();
    for shown in notices.iter().chain([&skills.catalog()]) {
        let is_unsafe = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!shown.contains(is_unsafe), "{shown:?}");
    }
    assert!(notices.iter().all(|notice| !notice.contains('\n')));
}
