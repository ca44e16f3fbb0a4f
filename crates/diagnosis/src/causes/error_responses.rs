use super::Cause;
use super::FoundBy::{Diagnose, Measure};

pub(super) const CAUSE: Cause = Cause {
    slug: "error-responses",
    title: "Responses are errors or redirections",
    happens: "\
The service answers with a status outside of 200 to 299. An error page or a redirection is seldom what was to be
measured, and some servers close the connection or forget the session with it.",
    seen: "\
The status of each response is counted. No finding about resumption is drawn from an error response alone.",
    confirm: "\
Look at the status:

```sh
curl -so /dev/null -w '%{http_code}\\n' https://HOST/
```",
    costs: "The figures are of another request than the one that users send.",
    found_by: &[Measure, Diagnose],
    advice: "--path, --method and --header change the request.",
    fixes: &[],
};
