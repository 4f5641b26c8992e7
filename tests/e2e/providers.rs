//! The table of providers is what the help, `host doctor` and errors show.

use std::os::unix::fs::PermissionsExt as _;

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

#[test]
fn doctor_names_the_model_that_is_used_and_no_key_that_it_does_not_need() {
    let models = |host: Host| -> Vec<String> {
        let findings = host.env("OLLAMA_HOST", "http://127.0.0.1:1").run_of(&["doctor", "--json"]).json();
        let of_model = |finding: &&serde_json::Value| finding["about"] == "model";
        let findings = findings.as_array().expect("a list").iter().filter(of_model);
        findings.map(|finding| finding["said"].as_str().expect("text").to_owned()).collect()
    };
    let saved = "model = \"openai/gpt-5.6-terra\"\naddress = \"http://127.0.0.1:1/v1\"\n";
    let host = Host::new(["doctor"]).home_file(".config/host/credentials.toml", saved);
    let file = host.home().join(".config/host/credentials.toml");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("set");
    assert_eq!(models(host), ["`openai/gpt-5.6-terra` is used, which you chose and saved"]);
    let configured = Host::new(["doctor"]).configured("model = \"offline\"\n");
    assert_eq!(models(configured), ["`offline` is used, as `model` of the configuration says"]);
    let with_key = Host::new(["doctor"]).env("GEMINI_API_KEY", "k-12345678");
    assert_eq!(models(with_key), ["a model of `gemini` is used, since GEMINI_API_KEY is set", "GEMINI_API_KEY is set"]);
}
