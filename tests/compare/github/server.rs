//! The server.

use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};

/// The only token it knows.
pub(crate) const TOKEN: &str = "secret-token";
/// Where the API is, too: GitHub Enterprise has it there.
pub(crate) const ENTERPRISE: &str = "/api/v3";
/// The repository it has.
pub(crate) const REPOSITORY: &str = "owner/project";
/// Who comments with that token.
pub(crate) const US: &str = "github-actions[bot]";

/// A GitHub with one repository.
pub(crate) struct FakeGithub {
    pub(crate) api: String,
    state: Arc<Mutex<State>>,
}

/// What it keeps, and what it is to do.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) comments: Vec<Comment>,
    /// Open pull requests as the API tells of them.
    pub(crate) pulls: Vec<Value>,
    /// Requests so far, like `GET /repos/owner/project/pulls/7`.
    pub(crate) asked: Vec<String>,
    /// Answers to give instead, each to the next request with that method.
    pub(crate) faults: VecDeque<Fault>,
    /// What somebody else does right after the next request with that method.
    pub(crate) interference: VecDeque<(&'static str, Interference)>,
    /// The token may only read.
    pub(crate) read_only: bool,
    /// Login of whoever has the token, if it is not [`US`].
    pub(crate) login: Option<String>,
    /// Whether `GET /user` tells it.
    pub(crate) tells_login: bool,
    /// Address that lists name for their next page, if it is not the server's own.
    pub(crate) links_to: Option<String>,
    /// Files that anybody may have, by path.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    last_id: u64,
}

pub(crate) type Interference = Box<dyn FnOnce(&mut State) + Send>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Comment {
    pub(crate) id: u64,
    pub(crate) author: String,
    pub(crate) body: String,
}

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) method: &'static str,
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) message: &'static str,
    /// Do what was asked all the same: the answer gets lost.
    pub(crate) but_done: bool,
}

struct Request {
    method: String,
    path: String,
    query: Vec<(String, String)>,
    authorization: String,
    body: Value,
}

struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Value,
}

impl FakeGithub {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let api = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State::default()));
        let (own, base) = (Arc::clone(&state), api.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // Who asks may go away in the middle.
                let _ = serve(stream, &own, &base);
            }
        });
        Self { api, state }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Somebody comments.
    pub(crate) fn posted(&self, author: &str, body: &str) -> u64 {
        self.state().post(author, body)
    }

    /// Bodies of the comments that begin with abreast's mark, oldest first.
    pub(crate) fn bodies(&self) -> Vec<String> {
        let state = self.state();
        let ours = state
            .comments
            .iter()
            .filter(|comment| comment.body.contains("<!-- abreast:comment -->"));
        ours.map(|comment| comment.body.clone()).collect()
    }

    /// The only such body.
    #[track_caller]
    pub(crate) fn body(&self) -> String {
        let mut bodies = self.bodies();
        assert_eq!(bodies.len(), 1, "{bodies:#?}");
        bodies.remove(0)
    }

    /// How many requests had this method.
    pub(crate) fn asked(&self, method: &str) -> usize {
        let state = self.state();
        state
            .asked
            .iter()
            .filter(|asked| asked.starts_with(method))
            .count()
    }

    /// The next request with this method gets another answer.
    pub(crate) fn fail(&self, method: &'static str, status: u16, message: &'static str) {
        self.fail_with(Fault::new(method, status, message));
    }

    pub(crate) fn fail_with(&self, fault: Fault) {
        self.state().faults.push_back(fault);
    }

    /// An open pull request.
    pub(crate) fn open(&self, number: u64, repository: &str, branch: &str, sha: &str) {
        self.state().pulls.push(json!({
            "number": number,
            "head": {"ref": branch, "sha": sha, "repo": {"full_name": repository}},
        }));
    }
}

impl Fault {
    pub(crate) fn new(method: &'static str, status: u16, message: &'static str) -> Self {
        Self {
            method,
            status,
            headers: Vec::new(),
            message,
            but_done: false,
        }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl ToString) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }

    pub(crate) fn but_done(mut self) -> Self {
        self.but_done = true;
        self
    }
}

impl State {
    pub(crate) fn post(&mut self, author: &str, body: &str) -> u64 {
        self.last_id += 1;
        self.comments.push(Comment {
            id: self.last_id,
            author: author.to_owned(),
            body: body.to_owned(),
        });
        self.last_id
    }

    fn login(&self) -> String {
        self.login.clone().unwrap_or_else(|| US.to_owned())
    }

    fn answer(&mut self, request: &Request, base: &str) -> Answer {
        self.asked.push(format!("{} {}", request.method, request.path));
        if request.authorization != format!("Bearer {TOKEN}") {
            return Answer::message(401, "Bad credentials");
        }
        let fault = self
            .faults
            .iter()
            .position(|fault| fault.method == request.method)
            .and_then(|at| self.faults.remove(at));
        let answer = match fault {
            Some(fault) => {
                if fault.but_done {
                    self.act(request, base);
                }
                Answer {
                    headers: fault.headers,
                    ..Answer::message(fault.status, fault.message)
                }
            }
            None => self.act(request, base),
        };
        let next = self.interference.front().map(|(method, _)| *method);
        if next == Some(request.method.as_str())
            && let Some((_, interfere)) = self.interference.pop_front()
        {
            interfere(self);
        }
        answer
    }

    fn act(&mut self, request: &Request, base: &str) -> Answer {
        let parts: Vec<&str> = request.path.trim_start_matches('/').split('/').collect();
        let text = request.body["body"].as_str().unwrap_or_default().to_owned();
        let writes = request.method != "GET";
        if writes && self.read_only {
            return Answer::message(403, "Resource not accessible by integration");
        }
        if writes && text.chars().count() > 65_536 {
            return Answer::message(
                422,
                "Validation Failed: body is too long (maximum is 65536 characters)",
            );
        }
        match (request.method.as_str(), parts.as_slice()) {
            ("GET", ["user"]) if self.tells_login => Answer::ok(json!({"login": self.login()})),
            ("GET", ["user"]) => Answer::message(403, "Resource not accessible by integration"),
            ("GET", ["repos", "owner", "project", "pulls"]) => {
                Answer::ok(Value::Array(self.pulls_for(request)))
            }
            ("GET", ["repos", "owner", "project", "pulls", number]) => {
                let number = number.parse::<u64>().ok();
                let found = self.pulls.iter().find(|pull| pull["number"].as_u64() == number);
                found.map_or_else(
                    || Answer::message(404, "Not Found"),
                    |pull| Answer::ok(pull.clone()),
                )
            }
            ("GET", ["repos", "owner", "project", "issues", _, "comments"]) => self.page(request, base),
            ("POST", ["repos", "owner", "project", "issues", _, "comments"]) => {
                let login = self.login();
                let id = self.post(&login, &text);
                Answer {
                    status: 201,
                    ..Answer::ok(shown(&Comment {
                        id,
                        author: login,
                        body: text,
                    }))
                }
            }
            (method, ["repos", "owner", "project", "issues", "comments", id]) => {
                let id = id.parse::<u64>().unwrap();
                let Some(at) = self.comments.iter().position(|comment| comment.id == id) else {
                    return Answer::message(404, "Not Found");
                };
                if method == "DELETE" {
                    self.comments.remove(at);
                    return Answer {
                        status: 204,
                        ..Answer::ok(Value::Null)
                    };
                }
                assert_eq!(method, "PATCH");
                self.comments[at].body = text;
                Answer::ok(shown(&self.comments[at]))
            }
            _ => Answer::message(404, "Not Found"),
        }
    }

    fn pulls_for(&self, request: &Request) -> Vec<Value> {
        let wanted = request.query("head");
        let label = |pull: &Value| {
            let repository = pull["head"]["repo"]["full_name"].as_str().unwrap_or_default();
            let owner = repository.split('/').next().unwrap_or_default();
            format!("{owner}:{}", pull["head"]["ref"].as_str().unwrap_or_default())
        };
        let of_head = self.pulls.iter().filter(|pull| label(pull) == wanted);
        of_head.cloned().collect()
    }

    fn page(&self, request: &Request, base: &str) -> Answer {
        let number = |name: &str, default: usize| request.query(name).parse().unwrap_or(default);
        let (size, page) = (number("per_page", 30).min(100), number("page", 1));
        let begin = ((page - 1) * size).min(self.comments.len());
        let end = (begin + size).min(self.comments.len());
        let mut answer = Answer::ok(self.comments[begin..end].iter().map(shown).collect());
        if end < self.comments.len() {
            let base = self.links_to.as_deref().unwrap_or(base);
            let next = format!("<{base}{}?page={}>; rel=\"next\"", request.path, page + 1);
            answer.headers.push(("Link", next));
        }
        answer
    }
}

impl Request {
    fn query(&self, name: &str) -> String {
        let found = self.query.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    }
}

impl Answer {
    fn ok(body: Value) -> Self {
        Self {
            status: 200,
            headers: Vec::new(),
            body,
        }
    }

    fn message(status: u16, message: &str) -> Self {
        Self {
            status,
            ..Self::ok(json!({"message": message, "documentation_url": "https://docs.github.example"}))
        }
    }
}

/// As the API shows it, with much that nobody needs.
fn shown(comment: &Comment) -> Value {
    json!({
        "id": comment.id,
        "node_id": "IC_x",
        "user": {"login": comment.author, "id": 1, "type": "Bot"},
        "body": comment.body,
        "performed_via_github_app": null,
    })
}

fn serve(stream: TcpStream, state: &Mutex<State>, base: &str) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let request = read(&mut reader)?;
    let file = state.lock().unwrap().files.get(&request.path).cloned();
    if let Some(file) = file {
        let mut stream = reader.into_inner();
        write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            file.len()
        )?;
        return stream.write_all(&file);
    }
    let answer = state.lock().unwrap().answer(&request, base);
    let body = if answer.body.is_null() {
        String::new()
    } else {
        answer.body.to_string()
    };
    let headers: String = answer
        .headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    let mut stream = reader.into_inner();
    write!(
        stream,
        "HTTP/1.1 {} Status\r\n{headers}Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        answer.status,
        body.len()
    )?;
    stream.flush()
}

fn read(reader: &mut BufReader<TcpStream>) -> std::io::Result<Request> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut request = Request {
        method: method.to_owned(),
        // A server of one's own has its API below a path.
        path: path.strip_prefix(ENTERPRISE).unwrap_or(path).to_owned(),
        query: query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (name.to_owned(), decoded(value)))
            .collect(),
        authorization: String::new(),
        body: Value::Null,
    };
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim_end().split_once(':') else {
            break;
        };
        match name.to_ascii_lowercase().as_str() {
            "authorization" => value.trim().clone_into(&mut request.authorization),
            "content-length" => length = value.trim().parse().unwrap(),
            "transfer-encoding" => panic!("this server reads no chunks"),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    request.body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Ok(request)
}

fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).unwrap()
}
