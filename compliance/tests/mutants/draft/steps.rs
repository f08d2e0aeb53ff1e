//! Changing a session.
//!
//! | step                           | what it does                                              |
//! |--------------------------------|-----------------------------------------------------------|
//! | `set SELECTOR POINTER JSON`    | sets a member of a message, or puts it there              |
//! | `fill SELECTOR POINTER N JSON` | sets a member to an array of N of these                   |
//! | `cut SELECTOR POINTER`         | takes a member away                                       |
//! | `fail SELECTOR ERROR`          | makes a response an error                                 |
//! | `text SELECTOR TEXT`           | makes the message this text; `wrap SELECTOR` an array     |
//! | `drop SELECTOR`                | takes an event away; `clear SELECTOR` all of its method   |
//! | `leave SELECTOR`               | takes a whole HTTP exchange away                          |
//! | `again SELECTOR`               | an event comes twice                                      |
//! | `move SELECTOR before OTHER`   | or `after`                                                |
//! | `head SELECTOR NAME VALUE`     | sets a field of an HTTP head; `-` takes it away           |
//! | `status SELECTOR CODE`         | sets the status of a response                             |
//! | `event SELECTOR ID`            | names an event of a stream                                |
//! | `graft after SELECTOR SCRIPT`  | puts a script there, its lines parted by ` | `; or `before`; |
//! |                                | what begins with `session 0` belongs to no session        |

use serde_json::{Value, json};
use tapewright_compliance::script;
use tapewright_schemas::event::{ConduitId, EventBody, Fields, Head, SessionKey};

use super::Draft;

impl Draft {
    /// Makes a step.
    pub(crate) fn step(&mut self, step: &str) {
        let (word, rest) = step.split_once(' ').unwrap_or((step, ""));
        let (first, more) = rest.split_once(' ').unwrap_or((rest, ""));
        let (second, last) = more.split_once(' ').unwrap_or((more, ""));
        match word {
            "set" => self.change(first, |message| put(message, second, parse(last))),
            "fill" => {
                let (count, one) = last.split_once(' ').expect("a number and a value");
                let all = vec![parse(one); count.parse().expect("a number")];
                self.change(first, |message| put(message, second, Value::Array(all)));
            }
            "cut" => self.change(first, |message| cut(message, second)),
            "fail" => self.change(first, |message| {
                cut(message, "/result");
                put(message, "/error", parse(more));
            }),
            "text" => self.write(self.find(first), more),
            "wrap" => {
                let place = self.find(first);
                let message = self.message(place);
                self.write(place, &json!([message]).to_string());
            }
            "drop" => drop(self.events.remove(self.find(first))),
            "clear" => {
                for place in self.all(first).into_iter().rev() {
                    self.events.remove(place);
                }
            }
            "leave" => {
                let conduit = self.events[self.find(first)].conduit;
                self.events.retain(|event| event.conduit != conduit);
            }
            "again" => {
                let place = self.find(first);
                let event = self.events[place].clone();
                self.events.insert(place + 1, event);
            }
            "move" => self.shift(first, second == "after", last),
            "head" => self.field(first, second, last),
            "status" => self.status(first, second),
            "event" => {
                let place = self.find(first);
                let EventBody::Sse(note) = &mut self.events[place].body else {
                    panic!("`{first}` is no event of a stream");
                };
                note.id = Some(second.to_owned());
            }
            "graft" => self.graft(first == "after", second, last),
            _ => panic!("`{word}` is no step"),
        }
    }

    fn change(&mut self, selector: &str, change: impl FnOnce(&mut Value)) {
        let place = self.find(selector);
        let mut message = self.message(place);
        change(&mut message);
        self.write(place, &message.to_string());
    }

    /// Moves an event; it takes the time of its new neighbour.
    fn shift(&mut self, selector: &str, after: bool, other: &str) {
        let mut event = self.events.remove(self.find(selector));
        let place = self.find(other);
        event.at = self.events[place].at;
        self.events.insert(place + usize::from(after), event);
    }

    fn field(&mut self, selector: &str, name: &str, value: &str) {
        let place = self.find(selector);
        let EventBody::Head(head) = &mut self.events[place].body else {
            panic!("`{selector}` is no head");
        };
        let fields = match &mut **head {
            Head::Request(head) => &mut head.fields,
            Head::Interim(head) | Head::Response(head) => &mut head.fields,
        };
        let mut changed = Fields::default();
        for (known, value) in fields.iter().filter(|(known, _)| *known != name) {
            changed.push(known, value);
        }
        if value != "-" {
            changed.push(name, value);
        }
        *fields = changed;
    }

    fn status(&mut self, selector: &str, code: &str) {
        let place = self.find(selector);
        let EventBody::Head(head) = &mut self.events[place].body else {
            panic!("`{selector}` is no head");
        };
        let Head::Response(head) = &mut **head else {
            panic!("`{selector}` is the head of a request");
        };
        head.status = code.parse().expect("a status");
    }

    /// Inserts a script into the session. Events without an exchange of their own belong to that of
    /// the event next to them; later events are delayed accordingly.
    fn graft(&mut self, after: bool, selector: &str, text: &str) {
        let beside = self.find(selector);
        let place = beside + usize::from(after);
        let (at, conduit) = (self.events[beside].at, self.events[beside].conduit);
        let session = self.events[beside].session;
        let script = script::read(&text.replace(" | ", "\n")).expect("a script");
        let mut added = script.events;
        let outside = text.starts_with("session 0");
        let length = added.last().map_or(0, |event| event.at.0);
        for event in &mut added {
            event.at.0 += at.0;
            if event.conduit == ConduitId(0) {
                event.conduit = conduit;
            }
            event.session = if outside { SessionKey(0) } else { session };
        }
        for event in &mut self.events[place..] {
            event.at.0 += length;
        }
        self.events.splice(place..place, added);
    }
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("`{text}`: {error}"))
}

/// The container of the target of a pointer, and the name of the target in it.
fn parent<'a>(message: &'a mut Value, pointer: &str) -> (&'a mut Value, String) {
    let (above, name) = pointer.rsplit_once('/').expect("a pointer");
    let above = message
        .pointer_mut(above)
        .unwrap_or_else(|| panic!("nothing is at `{above}`"));
    (above, name.replace("~1", "/").replace("~0", "~"))
}

fn put(message: &mut Value, pointer: &str, value: Value) {
    let (above, name) = parent(message, pointer);
    match above {
        Value::Array(all) => all[name.parse::<usize>().expect("an index")] = value,
        one => one[name] = value,
    }
}

fn cut(message: &mut Value, pointer: &str) {
    let (above, name) = parent(message, pointer);
    let cut = above.as_object_mut().and_then(|one| one.remove(&name));
    assert!(cut.is_some(), "nothing is at `{pointer}`");
}
