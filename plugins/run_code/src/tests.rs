use host_sdk::fake::FakeHost;
use host_sdk::serde_json::json;
use host_sdk::tools::{Answer, Error};

use super::*;

/// What the model reads of a script that runs at this host.
fn read(host: &FakeHost, code: &str) -> Result<String, String> {
    match host.call(&run_code(), json!({"code": code})) {
        Ok(outcome) => match outcome.content.as_slice() {
            [host_sdk::Content::Text(text)] => Ok(text.clone()),
            other => panic!("one text and not {other:?}"),
        },
        Err(Failure::Failed(why)) => Err(why),
        Err(other) => panic!("{other:?}"),
    }
}

fn session() -> FakeHost {
    FakeHost::new()
        .tool("read_file", Ok(Answer::text("one\ntwo")))
        .tool("grep", Err(Error::Failed("no such folder".to_owned())))
        .tool("shell", Err(Error::Refused("the user rejected this call".to_owned())))
}

#[test]
fn script_calls_tools_in_order_and_at_once_and_returns_what_it_makes_of_the_results() {
    let host = session();
    let code = "const first = await tools.read_file({path: 'a', limit: 3});
        const all = await Promise.all(['b', 'c'].map((path) => tools.read_file({path})));
        console.log('read', all.length, {x: 1});
        return [first, ...all].map((text) => text.split('\\n').length);";
    assert_eq!(read(&host, code).as_deref(), Ok("read 2 {\"x\":1}\n\n[2,2,2]"));
    let made: Vec<_> = host.nested_calls().into_iter().map(|call| call.arguments).collect();
    assert_eq!(made, [json!({"path": "a", "limit": 3}), json!({"path": "b"}), json!({"path": "c"})]);
}

#[test]
fn script_catches_what_fails_and_what_is_refused() {
    let code = "const why = [];
        for (const name of ['grep', 'shell', 'nothing']) {
          try { await tools[name]({}) } catch (error) { why.push(`${error.kind} of ${error.tool}: ${error.message}`) }
        }
        const settled = await Promise.allSettled([tools.grep(), tools.read_file({})]);
        return why.concat(settled.map((one) => one.status)).join('\\n');";
    let told = read(&session(), code).expect("it ends");
    assert_eq!(
        told,
        "failed of grep: grep: no such folder\ndenied of shell: shell: the user rejected this call\n\
         not-found of nothing: nothing: there is no tool `nothing`\nrejected\nfulfilled"
    );
}

#[test]
fn error_names_the_line_of_the_script() {
    for (code, words) in [
        ("const a = 1;\nnull.x;", "at line 2 of the script"),
        ("\n\nawait tools.grep({});", "grep: no such folder"),
        ("console.log('before');\nthrow new Error('why');", "before\n\nError: why\n    at line 2 of the script"),
        ("return 1 +;", "SyntaxError"),
        ("const x = 1;\nconst y = ;", "line 2"),
        ("throw 'text'", "text"),
        ("await new Promise(() => {});", "never comes"),
        ("return 10n", "BigInt"),
        ("const a = {}; a.a = a; return a;", "cyclic"),
        ("tools.read_file('a')", "takes one object"),
        ("return await tools.read_file([1])", "takes one object"),
        ("})(); (async () => {", ""),
        ("}); ({", "not a callable function"),
        ("import fs from 'fs'", "SyntaxError"),
        ("return fetch('http://x')", "fetch"),
        ("const f = () => f(); f();", "recursive calls"),
    ] {
        let told = read(&session(), code);
        let told = told.as_ref().map_or_else(Clone::clone, |text| format!("returned: {text}"));
        assert!(told.to_lowercase().contains(&words.to_lowercase()), "{code:?}: {told:?}");
    }
}

#[test]
fn script_finds_the_language_and_nothing_else() {
    let code =
        "return ['process', 'require', 'fetch', 'setTimeout', 'XMLHttpRequest', 'WebAssembly', 'std', 'os', 'Deno']
        .filter((name) => name in globalThis)";
    assert_eq!(read(&session(), code).as_deref(), Ok("[]"));
    let nothing = read(&session(), "async () => 1").expect("it ends");
    assert!(nothing.contains("returned nothing"), "{nothing}");
    assert_eq!(read(&session(), "return 'a' + 'b'").as_deref(), Ok("ab"));
    assert_eq!(read(&session(), "return null").as_deref(), Ok("null"));
}

#[test]
fn script_that_changes_the_engine_changes_nothing_of_what_its_calls_are() {
    let host = session();
    let code = "JSON.stringify = () => '{\"path\":\"/etc/passwd\"}';
        Array.prototype.push = () => { throw new Error('push') };
        Object.prototype.then = undefined;
        globalThis.Promise = class {};
        String.prototype.toString = () => 'x';
        Object.defineProperty(Object.prototype, 'tool', { set() { throw new Error('tool') } });
        const text = await tools.read_file({path: 'a'});
        let caught = '';
        try { await tools.grep({}) } catch (error) { caught = error.tool }
        return text + caught;";
    assert_eq!(read(&host, code).as_deref(), Ok("one\ntwogrep"));
    let calls = host.nested_calls();
    assert_eq!((calls.len(), &calls[0].arguments), (2, &json!({"path": "a"})), "{calls:?}");
    // A getter runs as part of the script, and a proxy is what it says.
    let code = "return await tools.read_file({get path() { return 'b' }, toJSON() { return {path: 'c'} }})";
    assert_eq!(read(&host, code).as_deref(), Ok("one\ntwo"));
    assert_eq!(host.nested_calls()[2].arguments, json!({"path": "c"}));
}

#[test]
fn what_a_script_prints_and_returns_is_limited() {
    let text =
        read(&session(), "for (let i = 0; i < 9000; i++) console.log('x'.repeat(100)); return 1;").expect("it ends");
    assert!(text.len() < 300 << 10 && text.ends_with("more was printed than is kept]\n\n1"), "{}", text.len());
    let told = read(&session(), "return 'x'.repeat(5 * 1024 * 1024)").expect_err("it is too long");
    assert!(told.contains("over the limit"), "{told}");
}

#[test]
fn calls_over_the_limit_are_told() {
    let code = "let failed = '';
        for (let i = 0; i < 300; i++) { try { await tools.read_file({i}) } catch (error) { failed = error.message; break } }
        return failed;";
    let host = session();
    let told = read(&host, code).expect("it ends");
    assert!(told.contains("at most 256"), "{told}");
    assert_eq!(host.nested_calls().len(), 256);
}

#[test]
fn call_that_is_not_granted_is_denied_in_the_hosts_words() {
    let host = session().tool("todo", Ok(Answer::text("x")));
    let code = "try { await tools.todo({}) } catch (error) { return error.kind + error.message }";
    let told = read(&host, code).expect("it ends");
    assert!(told.starts_with("denied") && told.contains("tools grant"), "{told}");
}
