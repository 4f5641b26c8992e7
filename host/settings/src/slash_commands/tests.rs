//! Tests of which files become commands.

use super::sources::CommandFormat;
use super::*;

fn found(name: &str, text: &str, source: CommandSource) -> FoundCommand {
    let path = PathBuf::from(format!("/{}/{name}", source.words()));
    FoundCommand { name: name.to_owned(), path, source, text: Ok(text.to_owned()) }
}

const PROJECT: CommandSource = CommandSource { owner: CommandOwner::Project, format: CommandFormat::Markdown };
const USER: CommandSource = CommandSource { owner: CommandOwner::User, format: CommandFormat::Markdown };
const GEMINI: CommandSource = CommandSource { owner: CommandOwner::User, format: CommandFormat::Gemini };

#[test]
fn command_file_says_what_it_is_in_either_format() {
    let text = "---\ndescription: Review a pull request\nargument-hint: [pr-number] [priority]\nallowed-tools: Bash(git:*), Read\n\
                model: inherit\n---\n\nReview $1.\n";
    let commands = SlashCommands::read(
        vec![
            found("review", text, PROJECT),
            found("plain", "# Tidy up\n\nAll of it.", USER),
            found("list", "---\nargument-hint: [message]\n---\nx", USER),
            found("git:fix", "description = \"Fixes\"\nprompt = \"Fix {{args}}\"\nother = 1", GEMINI),
        ],
        0,
    );
    assert_eq!(commands.notices, [] as [String; 0]);
    let said = |name: &str| {
        let command = commands.find(name).expect("it is there");
        (command.file.description.as_str(), command.file.hint.as_str(), command.source.words())
    };
    assert_eq!(said("review"), ("Review a pull request", "[pr-number] [priority]", "project"));
    assert_eq!(said("plain"), ("Tidy up", "", "user"));
    assert_eq!(said("list").1, "[message]");
    assert_eq!(said("git:fix"), ("Fixes", "", "gemini"));
    let review = commands.find("review").expect("it is there");
    assert!(review.file.model.is_none() && review.file.allowed_tools.is_some());
}

// promise commands.faulty: A command file that cannot be used is a notice, and the others are used.
#[test]
fn command_files_that_are_faulty_are_notices() {
    let commands = SlashCommands::read(
        vec![
            found("a", "first", PROJECT),
            found("a", "second", USER),
            found("a", "first", GEMINI_AS_COPY),
            found("empty", "---\ndescription: x\n---\n", USER),
            found("open", "prompt = \"!{ls\"", GEMINI),
            found("none", "description = \"x\"", GEMINI),
            found("with space", "x", USER),
            FoundCommand { text: Err(CommandFault::TooLarge), ..found("large", "", USER) },
        ],
        0,
    );
    let expected = [
        "there are two commands `/a`: `/project/a` is used, not `/user/a`",
        "the command `/empty` (user) is not used: its prompt is empty",
        "the command `/open` (gemini) is not used: `!{` is not closed by a brace",
        "the command `/none` (gemini) is not used: it is not TOML as expected: missing field `prompt`",
        "the command `/with space` (user) is not used: `with space` cannot be typed as a name; use letters, digits, `-` and `_`",
        "the command `/large` (user) is not used: it is over the limit of 65536 bytes",
    ];
    assert_eq!(commands.notices, expected);
    assert_eq!(commands.all().count(), 1);
    let many = (0..MAX_COMMANDS + 3).map(|at| found(&format!("c{at}"), "x", USER));
    let many = SlashCommands::read(many.collect(), 7);
    assert_eq!(many.all().count(), MAX_COMMANDS);
    assert_eq!(many.notices, ["10 commands are left out: a session has 200 at most"]);
}

/// A second file with the same text.
const GEMINI_AS_COPY: CommandSource = CommandSource { owner: CommandOwner::User, format: CommandFormat::Markdown };
