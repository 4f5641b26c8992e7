//! The table of providers is what the help, `host doctor` and errors show.

use host_model::{PROVIDERS, model_forms};
use host_tests::host::Host;

#[test]
fn providers_table_is_in_help_doctor_and_errors() {
    let host = Host::new(["run"]);
    let help = host.run_of(&["run", "--help"]).stdout;
    let doctor = host.run_of(&["doctor"]).stdout;
    // Nothing answers at this address, so there is no local model either.
    let nothing = Host::new(["run", "x"]).env("OLLAMA_HOST", "http://127.0.0.1:1").run();
    let unknown = host.run_of(&["run", "--model", "nobody/x", "x"]).stderr;
    assert_eq!(nothing.code, Some(41), "{nothing:?}");
    for form in model_forms() {
        for text in [&help, &unknown] {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains(&form), "`{form}` is missing in {text}");
        }
    }
    for provider in PROVIDERS.iter().filter(|provider| provider.usual_models.is_some()) {
        let variable = provider.key_variable.expect("its key picks the usual models");
        assert!(doctor.contains(variable), "`{variable}` is missing in {doctor}");
        assert!(nothing.stderr.contains(variable), "`{variable}` is missing in {}", nothing.stderr);
    }
}
