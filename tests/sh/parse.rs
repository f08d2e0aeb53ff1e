//! From a script to commands.

use std::iter::Peekable;
use std::vec::IntoIter;

/// A list of commands, with what joins each to the one before it.
pub(crate) type List = Vec<(Join, Command)>;

/// When a command runs, after the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    Always,
    IfSuccessful,
    IfFailed,
}

#[derive(Clone, Debug)]
pub(crate) enum Command {
    Simple(Vec<Token>),
    /// `while`, or `until`, which waits for a success.
    While {
        until: bool,
        condition: List,
        body: List,
    },
    If {
        condition: List,
        then: List,
        otherwise: List,
    },
    For {
        name: String,
        words: Vec<Token>,
        body: List,
    },
    Case {
        word: String,
        arms: Vec<(Vec<String>, List)>,
    },
    Function(String, List),
    Group(List),
    /// A command, and the program that reads what it writes.
    Pipe(Box<Self>, Vec<Token>),
}

/// A word as it was written, or an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Word(String),
    Operator(&'static str),
}

const OPERATORS: [&str; 15] = [
    "2>/dev/null",
    "2>&1",
    ">&2",
    ">>",
    "<&-",
    "&&",
    "||",
    ";;",
    ";",
    "\n",
    "|",
    "(",
    ")",
    ">",
    "<",
];

type Tokens = Peekable<IntoIter<Token>>;

pub(crate) fn script(text: &str) -> Result<List, String> {
    let mut tokens = tokens(text)?.into_iter().peekable();
    let list = list(&mut tokens, &[])?;
    match tokens.next() {
        None => Ok(list),
        Some(token) => Err(format!("{token:?} was not expected")),
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        if let Some(operator) = OPERATORS.iter().find(|one| rest.starts_with(**one)) {
            found.push(Token::Operator(operator));
            rest = rest.strip_prefix(operator).unwrap_or_default();
        } else if next == '#' {
            rest = rest
                .find('\n')
                .and_then(|end| rest.get(end..))
                .unwrap_or_default();
        } else if next.is_whitespace() {
            rest = rest.trim_start_matches([' ', '\t', '\r']);
        } else {
            let length = word(rest)?;
            let (word, behind) = rest.split_at(length);
            found.push(Token::Word(word.to_owned()));
            rest = behind;
        }
    }
    Ok(found)
}

/// The length of the word at the start, with everything in it that is quoted or expanded.
fn word(text: &str) -> Result<usize, String> {
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let next = rest.chars().next().unwrap_or_default();
        if next.is_whitespace() || ";|<>()&".contains(next) {
            break;
        }
        at += part(rest)?;
    }
    if at == 0 {
        return Err(format!("{text:?} is not known"));
    }
    Ok(at)
}

/// The length of a character, or of what it opens.
pub(crate) fn part(text: &str) -> Result<usize, String> {
    let within = |open: usize, end: &str| -> Result<usize, String> {
        let mut at = open;
        loop {
            let rest = text.get(at..).filter(|rest| !rest.is_empty());
            let rest = rest.ok_or_else(|| format!("no {end} for {text:?}"))?;
            if rest.starts_with(end) {
                return Ok(at + end.len());
            }
            at += part(rest)?;
        }
    };
    let first = text.chars().next().map_or(1, char::len_utf8);
    Ok(match text.as_bytes() {
        [b'\'', rest @ ..] => {
            let end = rest.iter().position(|byte| *byte == b'\'');
            end.ok_or("a quote that does not end")? + 2
        }
        [b'"', ..] => within_quotes(text)?,
        [b'\\', _, ..] => 2,
        [b'$', b'(', b'(', ..] => within(3, "))")?,
        [b'$', b'(', ..] => within(2, ")")?,
        [b'$', b'{', ..] => within(2, "}")?,
        _ => first,
    })
}

/// The length of a text in double quotes, in which single quotes mean nothing.
fn within_quotes(text: &str) -> Result<usize, String> {
    let mut at = 1;
    loop {
        let rest = text.get(at..).filter(|rest| !rest.is_empty());
        let rest = rest.ok_or("a double quote that does not end")?;
        at += match rest.as_bytes() {
            [b'"', ..] => return Ok(at + 1),
            [b'\'', ..] => 1,
            [b'$', b'{', ..] => rest.find('}').ok_or("no }")? + 1,
            _ => part(rest)?,
        };
    }
}

fn is_word(token: Option<&Token>, words: &[&str]) -> bool {
    matches!(token, Some(Token::Word(word)) if words.contains(&word.as_str()))
}

fn is_operator(token: Option<&Token>, operators: &[&str]) -> bool {
    matches!(token, Some(Token::Operator(one)) if operators.contains(one))
}

/// Commands up to one of these words, which stays.
fn list(tokens: &mut Tokens, ends: &[&str]) -> Result<List, String> {
    let mut found = List::new();
    let mut join = Join::Always;
    loop {
        while is_operator(tokens.peek(), &[";", "\n"]) {
            tokens.next();
        }
        if tokens.peek().is_none()
            || is_word(tokens.peek(), ends)
            || is_operator(tokens.peek(), &[";;"])
        {
            return Ok(found);
        }
        found.push((join, piped(tokens)?));
        join = Join::Always;
        match tokens.peek() {
            Some(Token::Operator("&&")) => join = Join::IfSuccessful,
            Some(Token::Operator("||")) => join = Join::IfFailed,
            None | Some(Token::Operator(";" | ";;" | "\n")) => continue,
            Some(Token::Word(word)) if ends.contains(&word.as_str()) => continue,
            Some(token) => return Err(format!("{token:?} is not known here")),
        }
        tokens.next();
    }
}

/// A command, with all programs that its output passes through.
fn piped(tokens: &mut Tokens) -> Result<Command, String> {
    let mut whole = command(tokens)?;
    while tokens.next_if_eq(&Token::Operator("|")).is_some() {
        let Command::Simple(reader) = command(tokens)? else {
            return Err("only a program can be behind a pipe".to_owned());
        };
        whole = Command::Pipe(Box::new(whole), reader);
    }
    Ok(whole)
}

fn expect(tokens: &mut Tokens, word: &str) -> Result<(), String> {
    while is_operator(tokens.peek(), &[";", "\n"]) {
        tokens.next();
    }
    match tokens.next() {
        Some(Token::Word(one)) if one == word => Ok(()),
        other => Err(format!("{other:?} instead of {word}")),
    }
}

fn command(tokens: &mut Tokens) -> Result<Command, String> {
    let Some(Token::Word(first)) = tokens.peek().cloned() else {
        return Err(format!("{:?} begins no command", tokens.peek()));
    };
    match first.as_str() {
        "while" | "until" => {
            tokens.next();
            let condition = list(tokens, &["do"])?;
            let body = body(tokens)?;
            let until = first == "until";
            Ok(Command::While {
                until,
                condition,
                body,
            })
        }
        "if" => {
            tokens.next();
            conditional(tokens)
        }
        "for" => {
            tokens.next();
            let Some(Token::Word(name)) = tokens.next() else {
                return Err("for what?".to_owned());
            };
            expect(tokens, "in")?;
            let words = plain(tokens);
            let body = body(tokens)?;
            Ok(Command::For { name, words, body })
        }
        "case" => {
            tokens.next();
            case(tokens)
        }
        "{" => {
            tokens.next();
            group(tokens).map(Command::Group)
        }
        _ => {
            tokens.next();
            if is_operator(tokens.peek(), &["("]) {
                tokens.next();
                tokens.next();
                expect(tokens, "{")?;
                return Ok(Command::Function(first, group(tokens)?));
            }
            let mut words = vec![Token::Word(first)];
            words.extend(plain(tokens));
            Ok(Command::Simple(words))
        }
    }
}

/// The rest of a simple command: words and redirections.
fn plain(tokens: &mut Tokens) -> Vec<Token> {
    let redirections = ["2>/dev/null", ">&2", ">>", ">"];
    std::iter::from_fn(|| {
        tokens.next_if(|token| {
            matches!(token, Token::Word(_)) || is_operator(Some(token), &redirections)
        })
    })
    .collect()
}

fn body(tokens: &mut Tokens) -> Result<List, String> {
    expect(tokens, "do")?;
    let body = list(tokens, &["done"])?;
    expect(tokens, "done")?;
    Ok(body)
}

fn group(tokens: &mut Tokens) -> Result<List, String> {
    let body = list(tokens, &["}"])?;
    expect(tokens, "}")?;
    Ok(body)
}

fn conditional(tokens: &mut Tokens) -> Result<Command, String> {
    let condition = list(tokens, &["then"])?;
    expect(tokens, "then")?;
    let then = list(tokens, &["elif", "else", "fi"])?;
    let otherwise = match tokens.next() {
        Some(Token::Word(word)) if word == "elif" => {
            vec![(Join::Always, conditional(tokens)?)]
        }
        Some(Token::Word(word)) if word == "else" => {
            let otherwise = list(tokens, &["fi"])?;
            expect(tokens, "fi")?;
            otherwise
        }
        Some(Token::Word(word)) if word == "fi" => List::new(),
        other => return Err(format!("{other:?} instead of fi")),
    };
    Ok(Command::If {
        condition,
        then,
        otherwise,
    })
}

fn case(tokens: &mut Tokens) -> Result<Command, String> {
    let Some(Token::Word(word)) = tokens.next() else {
        return Err("case of what?".to_owned());
    };
    expect(tokens, "in")?;
    let mut arms = Vec::new();
    loop {
        while is_operator(tokens.peek(), &[";;", "\n"]) {
            tokens.next();
        }
        if is_word(tokens.peek(), &["esac"]) {
            tokens.next();
            return Ok(Command::Case { word, arms });
        }
        let mut patterns = Vec::new();
        loop {
            match tokens.next() {
                Some(Token::Word(pattern)) => patterns.push(pattern),
                Some(Token::Operator("|")) => {}
                Some(Token::Operator(")")) => break,
                other => return Err(format!("{other:?} in a pattern")),
            }
        }
        arms.push((patterns, list(tokens, &["esac"])?));
    }
}
