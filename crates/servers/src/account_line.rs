//! How the lab's own programs in other languages tell of a connection:
//! `account PORT RESUMED VERSION CIPHER GROUP`, with `-` for what their platform does not say.

use super::Account;
use crate::{Result, ServerError};

/// What begins a line that tells of a connection; a program may print others.
const MARK: &str = "account ";

/// The accounts among the lines that `program` has written.
pub(super) fn accounts(program: &str, lines: &[String]) -> Result<Vec<Account>> {
    let told = lines.iter().filter_map(|line| line.strip_prefix(MARK));
    told.map(|line| {
        let malformed = || ServerError::Account { program: program.to_owned(), line: line.to_owned() };
        parse(line).ok_or_else(malformed)
    })
    .collect()
}

fn parse(line: &str) -> Option<Account> {
    let fields: Vec<&str> = line.split(' ').collect();
    let [port, resumed, version, cipher, group] = *fields else { return None };
    let told = |field: &str| Some(field.to_owned()).filter(|field| field != "-");
    let account = Account::new(port.parse().ok()?, resumed.parse().ok()?, version.to_owned());
    Some(Account { cipher: told(cipher), group: told(group), ..account })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_read_and_what_is_not_is_none() {
        let lines = ["listening", "account 40001 true TLSv1.3 TLS_AES_128_GCM_SHA256 -"].map(str::to_owned);
        let [account] = &*accounts("node", &lines).unwrap() else { panic!("one line tells of a connection") };
        assert_eq!((account.client_port, account.resumed, account.version.as_str()), (40001, true, "TLSv1.3"));
        assert_eq!((account.cipher.as_deref(), &account.group), (Some("TLS_AES_128_GCM_SHA256"), &None));
    }

    #[test]
    fn a_line_of_another_format_is_an_error() {
        for line in ["account 1", "account x true TLSv1.3 X -", "account 1 yes TLSv1.3 X -", "account 1 true TLSv1.3 X - -"]
        {
            let error = accounts("node", &[line.to_owned()]).unwrap_err();
            assert!(error.to_string().starts_with("cannot read node's account"), "{error}");
        }
    }
}
